/** The time in ms, on a clock that all processes of the machine share and that is never set back. */
export const now = () => Number(process.hrtime.bigint()) / 1e6
