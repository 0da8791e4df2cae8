// What a program without schedules never loads.
export { dutiesOf } from './duties-of.ts'
export { electedProcess } from './leader.ts'
export { Schedules } from './schedules.ts'
