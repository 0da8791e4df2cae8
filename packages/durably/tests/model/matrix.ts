// Matrix — which cells of status × transition were tried, and what came of it.
import { RUN_STATUSES, type RunStatus } from '../../src/model/run.ts'
import { TRANSITION_RULES } from '../../src/model/transition-rules.ts'
import { canMove, type Move, TRANSITIONS } from '../../src/model/transitions.ts'

const MOVES = Object.keys(TRANSITIONS) as Move[]

export const CELLS = RUN_STATUSES.flatMap((status) => MOVES.map((move) => ({ status, move })))

export class Matrix {
  readonly #counts = new Map<string, { made: number; refused: number }>()

  note(status: RunStatus, move: Move, made: boolean): void {
    const counts = this.of(status, move)
    counts[made ? 'made' : 'refused'] += 1
    this.#counts.set(`${status} ${move}`, counts)
  }

  of(status: RunStatus, move: Move): { made: number; refused: number } {
    return this.#counts.get(`${status} ${move}`) ?? { made: 0, refused: 0 }
  }

  /** Cells that were not tried as the table says: made where it is allowed, and refused where it is not or where a guard can fail. */
  missing(): string[] {
    return CELLS.flatMap(({ status, move }) => {
      const { made, refused } = this.of(status, move)
      const isAllowed = canMove(move, status)
      const isGuarded = !TRANSITION_RULES[move].guard.startsWith('none')
      if (made > 0 !== isAllowed) return `${move} of a ${status} run was made ${made} times`
      return refused === 0 && (!isAllowed || isGuarded) ? `${move} of a ${status} run was never refused` : []
    })
  }
}
