// The chart of counts, and the colours of its lines.
import { css } from 'lit'

export const chart = css`
  durably-counts-chart {
    display: block;
    min-height: 260px;
    margin-top: 12px;
  }
  .chart {
    display: block;
  }
  .chart text {
    fill: var(--muted);
    font-size: 11px;
  }
  .chart .grid {
    stroke: var(--border);
  }
  .chart .line {
    fill: none;
    stroke: var(--line);
    stroke-width: 2;
    stroke-linejoin: round;
  }
  .phase .dot {
    margin: 0;
    background: var(--line);
  }
  .phase-running {
    --line: var(--phase-running);
  }
  .phase-pending {
    --line: var(--phase-pending);
  }
  .phase-assigned {
    --line: var(--phase-assigned);
  }
  .phase-orphaned {
    --line: var(--phase-orphaned);
  }
  .phase-waiting {
    --line: var(--phase-waiting);
  }
  .phase-sleeping {
    --line: var(--phase-sleeping);
  }
  .phase-cancelling {
    --line: var(--phase-cancelling);
  }
  .phase-stale {
    --line: var(--phase-stale);
  }
  .phase-confirming {
    --line: var(--phase-confirming);
  }
  .phase-completed {
    --line: var(--phase-completed);
  }
  .phase-failed {
    --line: var(--phase-failed);
  }
  .phase-cancelled {
    --line: var(--phase-cancelled);
  }
`
