// One file, because each of them alone is little more than what a file of its own costs.
export { LastChance } from './last-chance.ts'
export { withinStepTime } from './steps/step-time-limit.ts'
export { stuckError } from './stuck-error.ts'
export { limitTime } from './time-limit.ts'
