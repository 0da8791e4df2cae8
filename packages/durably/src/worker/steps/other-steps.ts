// The kinds of steps that most jobs do without, in one file for a bundler: effects, transactions, signals and child runs. The first of them
// loads this (`lazy-steps.ts`).
export { ChildSteps } from './child-step.ts'
export { beginEffect, settleEffect, unrecordedEffect } from './effect-step.ts'
export { receiveSignal } from './signal-step.ts'
export { transactionStep } from './transaction-step.ts'
