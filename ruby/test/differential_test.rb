# frozen_string_literal: true

require_relative 'helper'

# The same program over Terrace and over LevelDB.
class DifferentialTest < DatabaseTest
  # Debian's package libleveldb1d.
  LEVELDB = Dir['/usr/lib/*/libleveldb.so.1d'].first

  # Does as many random things as it is told, and prints the results.
  PROGRAM = <<~'RUBY'
    require 'leveldb'
    path, seed, steps = ARGV[0], ARGV[1].to_i, ARGV[2].to_i
    random = Random.new(seed)
    key = -> { random.bytes(random.rand(3)).tr("\4-\xff".b, "\0-\3".b) }
    bound = -> { random.rand(4).zero? ? nil : key.call }
    say = ->(what) { puts what.inspect }
    db = LevelDB::DB.new(path, write_buffer_size: 64 << 10)
    snapshots = []
    steps.times do |step|
      case random.rand(14)
      when 0..2 then say[db.put(key.call, random.bytes(random.rand(40))).bytesize]
      when 3 then say[db.put(key.call, 'x' * random.rand(20_000), sync: true).bytesize]
      when 4 then say[db.delete(key.call)&.sum]
      when 5 then say[db.get(key.call)]
      when 6 then say[db.batch { |b| random.rand(5).times { random.rand(3).zero? ? b.delete(key.call) : b.put(key.call, step.to_s) } }]
      when 7 then say[db.each(from: bound.call, to: bound.call).map { |k, v| [k, v.sum] }]
      when 8 then say[db.each(from: bound.call, to: bound.call, reversed: true).map { |k, v| [k, v.sum] }]
      when 9 then say[[db.range(bound.call, bound.call).to_a.hash == 0, db.reverse_range(bound.call, bound.call).map(&:first)]]
      when 10 then snapshots << db.snapshot
      when 11 then say[snapshots.sample(random: random)&.each(limit: 5)&.map { |k, v| [k, v.sum] }]
      when 12 then snapshots.shift&.release
      when 13
        if random.rand(10).zero?
          db.compact(bound.call, bound.call)
        elsif random.rand(4).zero?
          db.close
          snapshots.clear
          db = LevelDB::DB.new(path, compression: random.rand(2).zero? ? :none : :snappy)
        end
      end
    end
    say[db.to_a]
    say[begin; LevelDB::DB.new(path); rescue LevelDB::LockedError; 'locked'; end]
    db.close
    say[begin; LevelDB::DB.create(path); rescue LevelDB::DatabaseExistsError; 'exists'; end]
    say[begin; LevelDB::DB.load(path + 'x'); rescue LevelDB::MissingDatabaseError; 'missing'; end]
  RUBY

  DUMP = "require 'leveldb'; LevelDB::DB.open(ARGV[0]) { |db| puts db.to_a.inspect, db.reverse_each.to_a.inspect }"

  def setup
    super
    assert LEVELDB, 'LevelDB is missing: apt-get install libleveldb1d'
    @libraries = [LevelDB.library_path, LEVELDB]
  end

  def over(library, program, *arguments)
    run_ruby!(program, *arguments, environment: { 'TERRACE_LIB' => library })
  end

  def test_the_same_program_has_the_same_results
    (SHORT ? 1 : 4).times do |seed|
      transcripts = @libraries.map.with_index do |library, index|
        over(library, PROGRAM, File.join(@directory, "#{seed}-#{index}"), seed.to_s, '1500')
      end
      assert_operator transcripts.first.lines.size, :>, 1000
      assert_equal transcripts.first.lines, transcripts.last.lines, "seed #{seed}"
    end
  end

  def test_what_one_writes_the_other_reads
    steps = SHORT ? '200' : '800'
    @libraries.permutation do |writer, reader|
      path = File.join(@directory, File.basename(writer))
      over(writer, PROGRAM, path, '7', steps)
      assert_equal over(writer, DUMP, path), over(reader, DUMP, path)
      over(reader, PROGRAM, path, '8', steps)
      assert_equal over(reader, DUMP, path), over(writer, DUMP, path)
    end
  end
end
