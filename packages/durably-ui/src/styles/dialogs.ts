// Dialogs and their forms.
import { css } from 'lit'

export const dialogs = css`
  dialog {
    width: min(520px, calc(100vw - 24px));
    max-height: calc(100vh - 48px);
    padding: 0;
    border: 1px solid var(--border);
    border-radius: 12px;
    background: var(--raised);
    color: var(--text);
    box-shadow: 0 20px 60px rgb(0 0 0 / 0.28);
  }
  dialog::backdrop {
    background: rgb(12 12 14 / 0.42);
  }
  dialog form {
    display: flex;
    flex-direction: column;
    max-height: calc(100vh - 50px);
  }
  dialog header {
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: 12px;
    padding: 14px 14px 10px 20px;
  }
  dialog header h2 {
    font-size: 15px;
    overflow-wrap: anywhere;
  }
  dialog header button {
    border-color: transparent;
    background: none;
  }
  .dialog-body {
    display: grid;
    gap: 14px;
    padding: 4px 20px 16px;
    overflow: auto;
    overflow-wrap: anywhere;
  }
  .dialog-body > p,
  .dialog-body li {
    color: var(--muted);
  }
  .dialog-body li::before {
    content: '· ';
  }
  .dialog-body button {
    justify-self: start;
  }
  dialog footer {
    display: flex;
    justify-content: flex-end;
    flex-wrap: wrap;
    gap: 8px;
    padding: 12px 20px;
    border-top: 1px solid var(--border);
  }
  dialog label,
  .field,
  fieldset {
    display: grid;
    gap: 4px;
    font-weight: 500;
  }
  dialog details[open] {
    display: grid;
    gap: 12px;
  }
  dialog details label {
    margin-top: 10px;
  }
  fieldset {
    gap: 12px;
    margin: 0;
    padding: 10px 14px 14px;
    border: 1px solid var(--border);
    border-radius: var(--radius);
    min-width: 0;
  }
  .field > label {
    display: block;
  }
  .field > .hint:empty {
    display: none;
  }
  dialog .option {
    display: flex;
    align-items: flex-start;
    gap: 10px;
  }
  .option input {
    min-height: 0;
    margin: 4px 0 0;
    accent-color: var(--accent-fill);
  }
  .option span {
    display: grid;
  }
  .option b {
    font-weight: 500;
  }
  .keys {
    display: grid;
    gap: 8px;
  }
  .keys > div {
    display: grid;
    grid-template-columns: 90px 1fr;
  }
  .keys dt {
    display: flex;
    gap: 5px;
  }
  .keys kbd {
    min-width: 22px;
    text-align: center;
  }
`
