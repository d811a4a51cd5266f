import { alpha, createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';
import { keepFocus } from '../parts/focus.ts';
import { text } from '../text/index.ts';
import type { Preferences } from './preferences.ts';

const HERON: MantineColorsTuple = [
  '#edf4fd',
  '#d9e6f8',
  '#b0cbf0',
  '#84aee8',
  '#5f95e1',
  '#4785dd',
  '#2f72cc',
  '#1c5fb8',
  '#174f9b',
  '#0f3f80',
];

/** Looks of the dashboard: calm, one colour, system fonts; dense makes everything a size smaller. */
export function themeOf({ density }: Preferences) {
  const isDense = density === 'dense';
  const size = isDense ? 'xs' : 'sm';
  const field = { defaultProps: { size } };
  return createTheme({
    colors: { heron: HERON },
    primaryColor: 'heron',
    primaryShade: { light: 7, dark: 7 },
    autoContrast: true,
    defaultRadius: 'md',
    fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
    fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
    headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.6rem' }, h2: { fontSize: '1.35rem' } } },
    scale: isDense ? 0.92 : 1,
    respectReducedMotion: true,
    cursorType: 'pointer',
    components: {
      Button: field,
      TextInput: field,
      PasswordInput: {
        defaultProps: {
          size,
          visibilityToggleFocusable: true,
          visibilityToggleButtonProps: { 'aria-label': text('password.toggle') },
        },
      },
      NumberInput: field,
      Textarea: field,
      Select: field,
      MultiSelect: field,
      Table: { defaultProps: { verticalSpacing: isDense ? 6 : 'xs', horizontalSpacing: 'sm' } },
      // Scrolls by the keyboard too, and takes no place below its last row.
      TableScrollContainer: { defaultProps: { type: 'native' } },
      Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
      Modal: {
        defaultProps: {
          centered: true,
          // What opened it may be gone by now.
          onExitTransitionEnd: keepFocus,
          closeButtonProps: { 'aria-label': text('close') },
          // The head of a dialog is no banner of the page.
          attributes: { header: { role: 'presentation' } },
        },
      },
      Anchor: { defaultProps: { underline: 'hover' } },
    },
  });
}

/** Colours of states: in the dark they tint what they stand on, and colour its text, rather than fill it. */
const TINTS = ['heron', 'blue', 'teal', 'yellow', 'orange', 'red', 'gray'] as const;

/** Soft text that is still easy to read: 4.5:1 on every background it stands on. */
export const resolveVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-red-text': '#c92a2a',
    '--mantine-color-teal-light-color': '#05604a',
    '--mantine-color-yellow-light-color': '#7a4a00',
    '--mantine-color-dimmed': '#56616d',
    '--mantine-color-placeholder': '#6a7581',
  },
  dark: {
    ...Object.fromEntries(
      TINTS.flatMap((name) => [
        [`--mantine-color-${name}-light`, alpha(colors[name]![5], 0.14)],
        [`--mantine-color-${name}-light-hover`, alpha(colors[name]![5], 0.22)],
        [`--mantine-color-${name}-light-color`, colors[name]![2]],
      ]),
    ),
    '--mantine-color-dimmed': '#aab2bb',
    '--mantine-color-placeholder': '#8d96a0',
  },
});
