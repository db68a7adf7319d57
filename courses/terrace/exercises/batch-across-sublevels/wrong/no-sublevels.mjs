// Something is stored beside both sublevels
export default async function ring(db, name, number) {
  const species = await db.sublevel('waiting').get(name)
  await db.batch([
    { type: 'del', key: name },
    { type: 'put', key: number, value: { name, species }, valueEncoding: 'json' }
  ])
}
