import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

/** Writes down which files the build made, so that the service worker can keep all of them. */
function fileList(): Plugin {
  return {
    name: 'file-list',
    apply: 'build',
    writeBundle({ dir = 'dist' }) {
      const entries = readdirSync(join(dir, 'assets'))
      writeFileSync(join(dir, 'files.json'), JSON.stringify(entries.map((file) => `assets/${file}`)))
    },
  }
}

// There is no plugin for React: Vite compiles JSX by itself. After an edit the page reloads, which its runs survive.
export default defineConfig({
  base: './',
  plugins: [fileList()],
  // The database is open in a worker, which finds its wasm file beside itself.
  optimizeDeps: { exclude: ['@coji/durably', '@sqlite.org/sqlite-wasm'] },
  worker: { format: 'es' },
})
