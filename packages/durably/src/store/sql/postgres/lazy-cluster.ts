import { lazyCode } from '../../../model/lazy.ts'

export const lazyCluster = lazyCode(async () => (await import('./cluster.ts')).postgresCluster)
