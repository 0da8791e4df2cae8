// What a program without schedules never loads, in one file for a bundler (`lazy-cluster.ts`).
export { dutiesOf } from './duties-of.ts'
export { electedProcess } from './leader.ts'
export { Schedules } from './schedules.ts'
