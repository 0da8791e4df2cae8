// The colours and measures, light and dark. Text on its surface has a contrast of at least 4.5 to 1.
import { css } from 'lit'

export const tokens = css`
  :host {
    color-scheme: light dark;
    --bg: light-dark(#fbfbfa, #111113);
    --surface: light-dark(#ffffff, #18181b);
    --raised: light-dark(#ffffff, #202024);
    --hover: light-dark(#f3f3f2, #1f1f23);
    --border: light-dark(#e7e7e9, #2b2b31);
    --strong-border: light-dark(#d4d4d9, #3b3b43);
    --text: light-dark(#1c1c20, #ededf0);
    --muted: light-dark(#62626d, #a0a0ab);
    --accent: light-dark(#5151cd, #a5a5ff);
    --accent-fill: light-dark(#5151cd, #6363e0);
    --good: light-dark(#1f7a4a, #58c48a);
    --bad: light-dark(#c0332f, #ff8a80);
    --bad-fill: light-dark(#c0332f, #c2413b);
    --warn: light-dark(#94600b, #e5b056);
    --active: light-dark(#2563c9, #7eb0ff);
    --idle: light-dark(#62626d, #a0a0ab);

    --worker-0: light-dark(#5b6ee1, #7f8ff0);
    --worker-1: light-dark(#0f8f8f, #41bdbd);
    --worker-2: light-dark(#b0529c, #d884c6);
    --worker-3: light-dark(#a8711a, #d6a24c);
    --worker-4: light-dark(#4c8a34, #85bf6c);
    --worker-5: light-dark(#7a5cc9, #a98ef0);

    --phase-running: var(--active);
    --phase-pending: light-dark(#8a8a95, #8a8a95);
    --phase-assigned: light-dark(#7a5cc9, #a98ef0);
    --phase-orphaned: light-dark(#b0529c, #d884c6);
    --phase-waiting: light-dark(#c98a1b, #e5b056);
    --phase-sleeping: light-dark(#0f8f8f, #41bdbd);
    --phase-cancelling: light-dark(#8b5e34, #c69b74);
    --phase-stale: light-dark(#d9622b, #ff9d66);
    --phase-confirming: light-dark(#9c7a00, #d6c04c);
    --phase-completed: var(--good);
    --phase-failed: var(--bad);
    --phase-cancelled: light-dark(#4a4a55, #c8c8d0);

    --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
    --radius: 8px;
  }
  :host([theme='light']) {
    color-scheme: light;
  }
  :host([theme='dark']) {
    color-scheme: dark;
  }
`
