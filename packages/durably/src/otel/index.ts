export { type OpenTelemetryOptions, withOpenTelemetry } from './with-open-telemetry.ts'
