// Text, links, buttons and fields.
import { css } from 'lit'

export const base = css`
  :host {
    display: block;
    height: 100%;
    min-height: 0;
    background: var(--bg);
    color: var(--text);
    font:
      13.5px/1.5 Inter,
      system-ui,
      -apple-system,
      'Segoe UI',
      'Open Sans',
      sans-serif;
    -webkit-font-smoothing: antialiased;
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  h1,
  h2,
  h3,
  p,
  ol,
  ul,
  dl,
  dd,
  pre,
  figure {
    margin: 0;
    padding: 0;
  }
  ol,
  ul {
    list-style: none;
  }
  h1 {
    font-size: 19px;
    font-weight: 620;
    letter-spacing: -0.01em;
    overflow-wrap: anywhere;
  }
  h2 {
    font-size: 13.5px;
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  h3 {
    font-size: 12.5px;
    font-weight: 600;
    color: var(--muted);
    overflow-wrap: anywhere;
  }
  code,
  pre,
  .mono {
    font-family: var(--mono);
    font-size: 12px;
  }
  a {
    color: var(--accent);
    text-decoration: none;
  }
  a:hover {
    text-decoration: underline;
  }
  time,
  .took,
  td,
  dd,
  b {
    font-variant-numeric: tabular-nums;
  }
  .icon {
    width: 16px;
    height: 16px;
    flex: none;
    fill: none;
    stroke: currentColor;
    stroke-width: 1.5;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  .hint {
    color: var(--muted);
    font-weight: 400;
    font-size: 12.5px;
  }
  .grow {
    flex: 1;
  }
  kbd {
    font: 11px var(--mono);
    color: var(--muted);
    border: 1px solid var(--strong-border);
    border-radius: 4px;
    padding: 0 5px;
    background: var(--surface);
  }

  button,
  .button,
  summary.quiet {
    font: inherit;
    font-weight: 500;
    color: inherit;
    display: inline-flex;
    align-items: center;
    gap: 6px;
    min-height: 32px;
    padding: 0 12px;
    border: 1px solid transparent;
    border-radius: 6px;
    background: none;
    cursor: pointer;
    white-space: nowrap;
  }
  button:disabled {
    opacity: 0.45;
    cursor: default;
  }
  .quiet,
  summary.quiet {
    border-color: var(--border);
    background: var(--surface);
  }
  .quiet:hover:enabled,
  a.quiet:hover,
  summary.quiet:hover {
    background: var(--hover);
    border-color: var(--strong-border);
    text-decoration: none;
  }
  .small {
    min-height: 26px;
    padding: 0 8px;
    font-size: 12.5px;
  }
  .primary {
    background: var(--accent-fill);
    color: #fff;
  }
  .danger-fill {
    background: var(--bad-fill);
    color: #fff;
  }
  .primary:hover:enabled,
  .danger-fill:hover:enabled {
    filter: brightness(1.08);
  }
  .danger {
    color: var(--bad);
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 1px;
  }
  main:focus {
    outline: none;
  }

  input,
  select,
  textarea {
    font: inherit;
    color: inherit;
    background: var(--surface);
    border: 1px solid var(--strong-border);
    border-radius: 6px;
    min-height: 32px;
    padding: 4px 10px;
    min-width: 0;
    max-width: 100%;
  }
  textarea {
    resize: vertical;
  }
  textarea.mono {
    font-family: var(--mono);
    font-size: 12px;
  }
  ::placeholder {
    color: var(--muted);
    opacity: 0.85;
  }

  .good {
    --tone: var(--good);
  }
  .bad {
    --tone: var(--bad);
  }
  .warn {
    --tone: var(--warn);
  }
  .active {
    --tone: var(--active);
  }
  .idle {
    --tone: var(--idle);
  }
  .badge {
    display: inline-flex;
    align-items: center;
    gap: 5px;
    height: 24px;
    padding: 0 9px 0 6px;
    border-radius: 12px;
    font-size: 12.5px;
    font-weight: 550;
    color: var(--tone);
    background: color-mix(in srgb, var(--tone) 11%, transparent);
    white-space: nowrap;
  }
  .mark {
    display: inline-flex;
    color: var(--tone);
  }
  .spin {
    transform-origin: 8px 8px;
    animation: spin 1.1s linear infinite;
  }
  @keyframes spin {
    to {
      transform: rotate(360deg);
    }
  }
  @media (prefers-reduced-motion: reduce) {
    .spin {
      animation: none;
    }
  }
  .dot {
    display: inline-block;
    width: 8px;
    height: 8px;
    margin-right: 7px;
    border-radius: 50%;
    background: var(--worker, var(--muted));
    flex: none;
  }
  .worker-0 {
    --worker: var(--worker-0);
  }
  .worker-1 {
    --worker: var(--worker-1);
  }
  .worker-2 {
    --worker: var(--worker-2);
  }
  .worker-3 {
    --worker: var(--worker-3);
  }
  .worker-4 {
    --worker: var(--worker-4);
  }
  .worker-5 {
    --worker: var(--worker-5);
  }
`
