import { lazyCode } from '../../model/lazy.ts'

export const memoryCluster = lazyCode(async () => (await import('./cluster.ts')).memoryCluster)
