declare module '@tabler/icons-react/dist/esm/icons/*.mjs' {
  export default function Icon(props: { size?: number; stroke?: number }): React.ReactNode;
}
