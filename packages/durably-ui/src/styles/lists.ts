// The list of runs with its filters, and the cards of jobs, schedules and workers.
import { css } from 'lit'

export const lists = css`
  .entries {
    display: grid;
    margin: 16px 0 0;
    padding: 0;
    list-style: none;
  }
  .entries li {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 14px;
    padding: 8px 2px;
    border-bottom: 1px solid var(--border);
    overflow-wrap: anywhere;
  }
  .phases {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
  }
  .phase {
    min-height: 30px;
    padding: 0 11px;
    gap: 7px;
    border: 1px solid var(--border);
    border-radius: 15px;
    color: var(--muted);
    font-size: 12.5px;
  }
  .phase b {
    font-weight: 600;
    color: var(--text);
  }
  .phase.bad b,
  .phase.warn b,
  .phase.active b,
  .phase.good b {
    color: var(--tone);
  }
  .phase:hover {
    background: var(--hover);
  }
  .phase[aria-pressed='true'] {
    color: var(--text);
    border-color: color-mix(in srgb, var(--accent) 55%, transparent);
    background: color-mix(in srgb, var(--accent) 9%, transparent);
  }
  .filters {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
  }
  .search {
    position: relative;
    flex: 1 1 260px;
    min-width: 0;
  }
  .search .icon {
    position: absolute;
    left: 10px;
    top: 8px;
    color: var(--muted);
  }
  .search input {
    width: 100%;
    padding-left: 34px;
    padding-right: 34px;
    border-color: var(--border);
  }
  .search kbd {
    position: absolute;
    right: 9px;
    top: 7px;
  }
  .search:focus-within kbd {
    display: none;
  }
  .filters select {
    border-color: var(--border);
    max-width: 200px;
  }
  .menu {
    position: relative;
  }
  .menu summary {
    list-style: none;
  }
  .menu summary::-webkit-details-marker {
    display: none;
  }
  .menu-items {
    position: absolute;
    right: 0;
    top: 36px;
    z-index: 3;
    display: grid;
    padding: 5px;
    border: 1px solid var(--border);
    border-radius: var(--radius);
    background: var(--raised);
    box-shadow: 0 8px 28px rgb(0 0 0 / 0.16);
  }
  .menu-items button:hover {
    background: var(--hover);
  }

  .runs {
    border: 1px solid var(--border);
    border-radius: var(--radius);
    background: var(--surface);
    overflow: hidden;
  }
  .runs li + li {
    border-top: 1px solid var(--border);
  }
  .row {
    display: grid;
    grid-template-columns: 16px minmax(100px, 190px) minmax(0, 1fr) auto 76px 72px 72px;
    align-items: center;
    gap: 12px;
    min-height: 42px;
    padding: 6px 14px;
    color: inherit;
  }
  .row:hover {
    background: var(--hover);
    text-decoration: none;
  }
  .row:focus-visible {
    outline-offset: -2px;
    background: var(--hover);
  }
  .row .name {
    font-weight: 550;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .row .summary {
    color: var(--muted);
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .row .summary.bad {
    color: var(--bad);
  }
  .labels {
    display: flex;
    gap: 5px;
    overflow: hidden;
  }
  .label {
    padding: 0 7px;
    border: 1px solid var(--border);
    border-radius: 9px;
    font-size: 11.5px;
    color: var(--muted);
    max-width: 140px;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .row .id {
    color: var(--muted);
  }
  .row .took,
  .row .when {
    color: var(--muted);
    text-align: right;
    white-space: nowrap;
  }
  .pager {
    display: flex;
    flex-direction: row;
    gap: 8px;
  }
  .more {
    padding: 10px 2px;
  }

  .jobs {
    display: grid;
    grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr));
    gap: 12px;
  }
  .figures {
    display: flex;
    flex-wrap: wrap;
    gap: 8px 24px;
  }
  .figures dt {
    color: var(--muted);
    font-size: 12px;
  }
  .figures dd {
    font-weight: 550;
    overflow-wrap: anywhere;
  }
  .card > .actions {
    margin-top: 12px;
  }
  .share {
    display: flex;
    gap: 2px;
    height: 4px;
    margin-bottom: 12px;
    border-radius: 2px;
    overflow: hidden;
    background: var(--hover);
  }
  .share i {
    background: var(--tone);
    min-width: 3px;
  }
  .histogram .bars {
    display: flex;
    align-items: flex-end;
    gap: 3px;
    height: 120px;
    border-bottom: 1px solid var(--border);
  }
  .column {
    flex: 1;
    height: 100%;
    display: flex;
    align-items: flex-end;
  }
  .column i {
    width: 100%;
    background: color-mix(in srgb, var(--accent) 65%, transparent);
    border-radius: 3px 3px 0 0;
  }
  .column:hover i {
    background: var(--accent);
  }
  .histogram figcaption {
    display: flex;
    justify-content: space-between;
    color: var(--muted);
    font-size: 12px;
    margin-top: 4px;
  }
  .counts {
    border-collapse: collapse;
    width: 100%;
  }
  .counts th {
    text-align: left;
    font-weight: 500;
    width: 120px;
  }
  .counts td,
  .counts th {
    padding: 6px 8px 6px 0;
    border-bottom: 1px solid var(--border);
  }
  .counts td:nth-child(2) {
    text-align: right;
    padding-right: 20px;
    width: 90px;
    font-weight: 550;
  }

  @media (max-width: 980px) {
    .row {
      grid-template-columns: 16px minmax(100px, 190px) minmax(0, 1fr) 72px 72px;
    }
    .row .labels,
    .row .id {
      display: none;
    }
  }
  @media (max-width: 760px) {
    .row {
      grid-template-columns: 16px minmax(0, 1fr) auto;
      gap: 1px 10px;
      padding: 9px 12px;
    }
    .row .took {
      display: none;
    }
    .row .summary {
      grid-column: 2 / -1;
      grid-row: 2;
    }
    .row .summary:empty {
      display: none;
    }
    .filters select {
      flex: 1 1 120px;
      max-width: none;
    }
    .phases {
      flex-wrap: nowrap;
      overflow-x: auto;
      margin: 0 -14px;
      padding: 2px 14px;
      scrollbar-width: none;
    }
    .phase {
      flex: none;
    }
    .menu-items {
      right: auto;
      left: 0;
    }
  }
`
