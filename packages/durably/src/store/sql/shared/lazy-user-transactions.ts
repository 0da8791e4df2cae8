import { lazyCode } from '../../../model/lazy.ts'

export const userTransactions = lazyCode(() => import('./user-transactions.ts'))
