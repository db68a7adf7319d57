export { Level as Database } from 'terrace'
