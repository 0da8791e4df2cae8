import { describeSurvival } from './survival.ts'

describeSurvival('survival', 'browser')
