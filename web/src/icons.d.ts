/** Outline icons of Tabler by name (web/icons.ts). */
declare module 'tabler:*' {
  export default function Icon(props: { size?: number; stroke?: number }): React.ReactNode;
}
