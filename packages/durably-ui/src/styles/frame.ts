// The frame: the side with the pages, the page beside it; on a phone the side is at the top.
import { css } from 'lit'

export const frame = css`
  .shell {
    display: grid;
    grid-template-columns: 200px minmax(0, 1fr);
    height: 100%;
  }
  .dialogs {
    position: fixed;
  }
  .side {
    display: flex;
    flex-direction: column;
    gap: 4px;
    padding: 16px 12px;
    border-right: 1px solid var(--border);
    min-height: 0;
  }
  .brand {
    display: flex;
    align-items: center;
    gap: 9px;
    font-weight: 650;
    font-size: 15px;
    letter-spacing: -0.01em;
    padding: 2px 8px 14px;
  }
  .logo {
    width: 20px;
    height: 20px;
    border-radius: 6px;
    background:
      linear-gradient(#fff, #fff) 5px 6px / 7px 1.6px no-repeat,
      linear-gradient(#fff, #fff) 5px 9.4px / 10px 1.6px no-repeat,
      linear-gradient(#fff, #fff) 5px 12.8px / 5px 1.6px no-repeat,
      var(--accent-fill);
  }
  nav {
    display: flex;
    flex-direction: column;
    gap: 2px;
  }
  .entry {
    display: flex;
    align-items: center;
    gap: 9px;
    height: 32px;
    padding: 0 8px;
    border-radius: 6px;
    color: var(--muted);
    font-weight: 500;
  }
  .entry:hover {
    background: var(--hover);
    color: var(--text);
    text-decoration: none;
  }
  .entry[aria-current='page'] {
    background: color-mix(in srgb, var(--accent) 10%, transparent);
    color: var(--accent);
  }
  .controls {
    display: flex;
    flex-direction: column;
    gap: 6px;
    margin-top: 16px;
    padding-top: 16px;
    border-top: 1px solid var(--border);
  }
  .side-end {
    display: flex;
    gap: 6px;
    margin-top: auto;
    padding: 0 4px;
  }
  .side-end .quiet {
    border-color: transparent;
    background: none;
    color: var(--muted);
  }
  main {
    overflow: auto;
    padding: 24px 32px 64px;
    scroll-padding-block: 60px;
  }
  main > * {
    display: flex;
    flex-direction: column;
    gap: 16px;
    max-width: 1240px;
    margin: 0 auto;
  }
  main > .notice {
    flex-direction: row;
    margin-bottom: 16px;
  }
  .page-head {
    display: flex;
    align-items: center;
    flex-wrap: wrap;
    gap: 8px 10px;
    min-height: 34px;
  }
  .card {
    background: var(--surface);
    border: 1px solid var(--border);
    border-radius: var(--radius);
    padding: 14px 16px 16px;
    min-width: 0;
  }
  .card > header {
    display: flex;
    align-items: center;
    justify-content: space-between;
    flex-wrap: wrap;
    gap: 4px 10px;
    margin-bottom: 12px;
  }
  .card > header h2 {
    flex: 1 0 auto;
    max-width: 100%;
  }
  .empty {
    text-align: center;
    padding: 72px 16px;
    color: var(--muted);
  }
  .empty h1,
  .empty h2 {
    color: var(--text);
    font-size: 15px;
    margin-bottom: 4px;
  }
  .empty button {
    margin-top: 10px;
  }
  .loading {
    color: var(--muted);
    padding: 24px 0;
  }
  .notice {
    display: flex;
    gap: 9px;
    padding: 10px 12px;
    border-radius: var(--radius);
    border: 1px solid color-mix(in srgb, var(--tone) 30%, transparent);
    background: color-mix(in srgb, var(--tone) 7%, transparent);
    overflow-wrap: anywhere;
  }
  .notice .icon {
    color: var(--tone);
    margin-top: 2px;
  }
  .toasts {
    position: fixed;
    right: 20px;
    bottom: 20px;
    display: grid;
    gap: 8px;
    max-width: min(420px, calc(100vw - 40px));
    z-index: 5;
  }
  .toast {
    padding: 10px 14px;
    border-radius: var(--radius);
    background: var(--raised);
    border: 1px solid var(--border);
    border-left: 3px solid var(--tone);
    box-shadow: 0 6px 24px rgb(0 0 0 / 0.14);
    overflow-wrap: anywhere;
  }

  @media (max-width: 760px) {
    .shell {
      grid-template-columns: minmax(0, 1fr);
      grid-template-rows: auto minmax(0, 1fr);
    }
    .side {
      flex-direction: row;
      flex-wrap: wrap;
      align-items: center;
      padding: 8px 12px;
      border-right: 0;
      border-bottom: 1px solid var(--border);
    }
    .brand {
      padding: 0 4px 0 0;
    }
    .side-end {
      margin: 0 0 0 auto;
      padding: 0;
    }
    nav {
      order: 3;
      flex-direction: row;
      width: 100%;
      overflow-x: auto;
    }
    .entry {
      flex: 1;
      justify-content: center;
      gap: 6px;
    }
    .controls {
      order: 4;
      flex-direction: row;
      flex-wrap: wrap;
      width: 100%;
      margin: 0;
      padding: 4px 0 0;
      border: 0;
    }
    main {
      padding: 16px 14px 48px;
    }
  }
`
