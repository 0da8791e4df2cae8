// What a program without schedules, events and jobs of other processes never loads, in one file for a bundler (`lazy-cluster.ts`).
export { ClusterParts } from './cluster-parts.ts'
export { dutiesOf } from './duties-of.ts'
export { publishJobs } from './publish-jobs.ts'
