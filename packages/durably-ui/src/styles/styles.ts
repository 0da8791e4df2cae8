// All styles of the dashboard, in the order in which they apply.
import { base } from './base.ts'
import { chart } from './chart.ts'
import { dialogs } from './dialogs.ts'
import { frame } from './frame.ts'
import { lists } from './lists.ts'
import { run } from './run.ts'
import { tokens } from './tokens.ts'

export const styles = [tokens, base, frame, lists, run, dialogs, chart]
