import { defineConfig } from 'vite'

// There is no plugin for React: Vite compiles JSX by itself. `npm run agentic` builds the page, and the server takes it from `dist`.
export default defineConfig({ build: { outDir: 'dist', emptyOutDir: true } })
