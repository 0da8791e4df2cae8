// `ctx.transaction`: what the user's function writes and the record of the step commit together, or not at all.
import { DurablyError } from '../../model/errors.ts'
import type { TransactionOptions } from '../../model/job.ts'
import { checkKeys, type KeysOf } from '../../model/known-keys.ts'
import type { Transaction } from '../../model/transaction.ts'
import { recordInTransaction, type TransactResult } from '../lease/owner-transaction.ts'
import type { StepCall, StepOutcome, StepRunner } from './step-runner.ts'
import { statementLimitMs, transactionLimitMs, withinTransactionLimit } from './transaction-limit.ts'

const TRANSACTION_OPTIONS: KeysOf<TransactionOptions> = { timeout: 1 }

type Body = (trx: Transaction) => Promise<unknown>

export async function transactionStep(steps: StepRunner, call: StepCall, options: TransactionOptions, fn: Body): Promise<StepOutcome> {
  if (typeof fn !== 'function')
    throw new DurablyError('invalid_argument', `transaction ${JSON.stringify(call.name)} needs a function as its last argument`)
  checkKeys('ctx.transaction', options, TRANSACTION_OPTIONS)
  const limitMs = transactionLimitMs(steps.deps.leaseMs, options.timeout)
  await steps.deps.execution.assureLease()
  steps.start(call)
  return transact(steps, call, fn, limitMs)
}

async function transact(steps: StepRunner, call: StepCall, fn: Body, limitMs: number): Promise<StepOutcome> {
  const { execution, env, codec } = steps.deps
  const { name } = call
  let output: string | null = null
  let result: TransactResult
  try {
    result = await recordInTransaction(execution.owner, steps.deps, statementLimitMs(limitMs), async (trx) => {
      // The execution may have been interrupted while it waited for other writes.
      execution.throwIfInterrupted()
      const undone = new Promise((_, reject) => {
        execution.undo = reject
      })
      const work = Promise.race([undone, steps.callFunction(call, async () => fn(trx as Transaction), { isTransaction: true })])
      output = codec.encode(await withinTransactionLimit(env, name, limitMs, work), `the result of transaction ${JSON.stringify(name)}`)
      return { type: 'recordStep', step: steps.row(call, output) }
    })
  } catch (error) {
    return steps.fail(call, error)
  }
  if (result === 'lost') execution.throwIfInterrupted()
  if (typeof result === 'object') return steps.fail(call, result.undone)
  return { value: steps.accepted(call, output) }
}
