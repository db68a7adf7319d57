export default async function report(db, print) {
  await print(`total ${await db.get('total')}`)
}
