// The page of a run.
import { css } from 'lit'

export const run = css`
  .run-head {
    align-items: flex-start;
  }
  .title {
    min-width: 0;
  }
  .crumb {
    color: var(--muted);
    font-size: 12.5px;
  }
  .sub {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px;
    margin-top: 8px;
  }
  .sub .mono {
    border-color: transparent;
    background: none;
    color: var(--muted);
    font-size: 12px;
    padding: 0 4px;
  }
  .sub .mono .icon {
    width: 13px;
    height: 13px;
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
  }
  .columns {
    display: grid;
    grid-template-columns: minmax(0, 1fr) 256px;
    gap: 16px;
    align-items: start;
  }
  .wide {
    display: flex;
    flex-direction: column;
    gap: 16px;
    min-width: 0;
  }
  .why {
    --tone: var(--warn);
    display: flex;
    gap: 10px;
    border-color: color-mix(in srgb, var(--tone) 32%, transparent);
    background: color-mix(in srgb, var(--tone) 6%, var(--surface));
    padding: 12px 14px;
  }
  .why.bad {
    --tone: var(--bad);
  }
  .why > .icon {
    color: var(--tone);
    margin-top: 2px;
  }
  .why > div {
    min-width: 0;
    display: grid;
    gap: 4px;
  }
  .why h2 {
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 6;
    overflow: hidden;
  }
  .explained {
    white-space: pre-line;
    overflow-wrap: anywhere;
    color: var(--muted);
    margin-top: 4px;
  }
  summary {
    cursor: pointer;
    color: var(--muted);
    font-size: 12.5px;
  }
  .progress {
    display: flex;
    align-items: center;
    gap: 12px;
    color: var(--muted);
    overflow-wrap: anywhere;
  }
  progress {
    appearance: none;
    flex: 1 1 120px;
    max-width: 420px;
    height: 6px;
    border: 0;
    border-radius: 3px;
    overflow: hidden;
    background: var(--border);
  }
  progress::-webkit-progress-bar {
    background: var(--border);
  }
  progress::-webkit-progress-value {
    background: var(--active);
  }
  progress::-moz-progress-bar {
    background: var(--active);
  }

  .facts {
    display: grid;
    gap: 7px;
  }
  .facts > div {
    display: grid;
    grid-template-columns: 104px minmax(0, 1fr);
    gap: 8px;
  }
  .facts dt {
    color: var(--muted);
    font-size: 12.5px;
    overflow-wrap: anywhere;
  }
  .facts dd {
    overflow-wrap: anywhere;
  }
  .worker {
    display: flex;
    align-items: baseline;
  }

  .timeline {
    display: grid;
    gap: 3px;
  }
  .lane {
    display: grid;
    grid-template-columns: minmax(80px, 150px) minmax(0, 1fr) 60px;
    gap: 12px;
    align-items: center;
    min-height: 26px;
    padding: 0 6px;
    margin: 0 -6px;
    border-radius: 6px;
    text-align: left;
    width: auto;
    font-weight: 400;
  }
  .lane.step:hover,
  .lane.chosen {
    background: var(--hover);
  }
  .lane-name {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    font-size: 12.5px;
  }
  .owners .lane-name {
    color: var(--muted);
  }
  .lane-took {
    color: var(--muted);
    font-size: 12px;
    text-align: right;
    white-space: nowrap;
    font-variant-numeric: tabular-nums;
  }
  .track {
    position: relative;
    display: block;
    height: 16px;
    grid-column: 2;
  }
  .owners {
    margin-bottom: 6px;
  }
  .owners .track {
    height: 22px;
  }
  .axis {
    min-height: 18px;
  }
  .axis .track {
    height: 16px;
  }
  .tick {
    position: absolute;
    transform: translateX(-50%);
    color: var(--muted);
    font-size: 11.5px;
    white-space: nowrap;
  }
  .tick.first {
    left: 0;
    transform: none;
  }
  .tick.last {
    right: 0;
    transform: none;
  }
  .bar {
    position: absolute;
    top: 0;
    bottom: 0;
    min-width: 3px;
    border-radius: 4px;
    overflow: hidden;
    font-size: 11.5px;
    line-height: 22px;
    white-space: nowrap;
    text-overflow: ellipsis;
  }
  .turn {
    padding: 0 6px;
    background: color-mix(in srgb, var(--worker) 22%, var(--surface));
    border: 1px solid color-mix(in srgb, var(--worker) 55%, transparent);
    line-height: 20px;
  }
  .turn.lost {
    border-right: 2px solid var(--bad);
    border-radius: 4px 0 0 4px;
  }
  .silence {
    padding: 0 6px;
    color: var(--bad);
    border-radius: 0 4px 4px 0;
    background: repeating-linear-gradient(
      -45deg,
      color-mix(in srgb, var(--bad) 16%, transparent) 0 4px,
      transparent 4px 8px
    );
  }
  .break {
    top: 10px;
    bottom: 10px;
    border-top: 2px dotted var(--strong-border);
    border-radius: 0;
  }
  .attempt {
    top: 3px;
    bottom: 3px;
    background: var(--tone);
    opacity: 0.85;
  }
  .attempt.completed {
    --tone: var(--good);
  }
  .attempt.failed {
    --tone: var(--bad);
  }
  .attempt.trying-again {
    --tone: var(--warn);
  }
  .attempt.running {
    --tone: var(--active);
  }
  .attempt.interrupted {
    background: repeating-linear-gradient(-45deg, var(--bad) 0 3px, color-mix(in srgb, var(--bad) 25%, transparent) 3px 6px);
  }
  .turns {
    margin-top: 12px;
    padding-top: 10px;
    border-top: 1px solid var(--border);
    color: var(--muted);
    font-size: 12.5px;
    max-height: 180px;
    overflow: auto;
  }
  .turns li {
    overflow-wrap: anywhere;
  }

  .values {
    display: grid;
    gap: 16px;
  }
  .value > header {
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: 8px;
    margin-bottom: 6px;
  }
  .card > .value {
    margin-top: 12px;
  }
  .card > .value:first-child,
  .values > .value {
    margin-top: 0;
  }
  pre {
    max-height: 360px;
    overflow: auto;
    padding: 10px 12px;
    border-radius: 6px;
    background: var(--bg);
    border: 1px solid var(--border);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .failure {
    overflow-wrap: anywhere;
    display: grid;
    gap: 6px;
  }
  .failure + .failure {
    margin-top: 10px;
  }
  .logs {
    max-height: 320px;
    overflow: auto;
    font: 12px/1.65 var(--mono);
  }
  .logs li {
    display: flex;
    gap: 10px;
  }
  .logs time,
  .logs .level,
  .step-name {
    color: var(--muted);
  }
  .logs .level {
    width: 38px;
    flex: none;
  }
  .logs .warn .level {
    color: var(--warn);
  }
  .logs .error .level,
  .logs .error .message {
    color: var(--bad);
  }
  .message {
    min-width: 0;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }
  .message code {
    color: var(--muted);
  }
  .tree .tree {
    margin-left: 22px;
  }
  .branch {
    display: flex;
    align-items: center;
    gap: 8px;
    min-height: 30px;
  }
  .branch .name {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .branch .took {
    color: var(--muted);
    margin-left: auto;
  }
  .twig {
    border: 0;
    background: none;
    padding: 0 4px;
    color: var(--muted);
  }

  @media (max-width: 980px) {
    .columns {
      grid-template-columns: minmax(0, 1fr);
    }
  }
  @media (max-width: 560px) {
    .lane {
      grid-template-columns: minmax(0, 1fr) auto;
      gap: 0 8px;
      padding: 3px 6px;
      min-height: 0;
    }
    .track {
      grid-column: 1 / -1;
      grid-row: 2;
    }
    .lane-took {
      grid-row: 1;
      grid-column: 2;
    }
    .axis .lane-name {
      display: none;
    }
  }
`
