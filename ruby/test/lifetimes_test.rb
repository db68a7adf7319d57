# frozen_string_literal: true

require_relative 'helper'
require 'timeout'

# When things end: closing, leaving loops, the garbage collector, the end of the process, forks, threads.
class LifetimesTest < DatabaseTest
  def setup
    super
    100.times { |i| @db[format('%03d', i)] = i.to_s }
  end

  # Hides what the block makes from the conservative collector.
  def out_of_sight(&make)
    Thread.new { make.call && nil }.join
  end

  def collect
    10.times do
      GC.start
      return if yield

      Thread.pass
    end
  end

  def test_what_is_used_after_closing_is_an_error
    snapshot = @db.snapshot
    batch = @db.batch
    iterator = @db.iterator
    other = @db.iterator(reversed: true)
    enumerator = @db.each
    assert_equal '000', iterator.next.first
    other.next
    other.next
    other.next
    enumerator.next
    assert_equal true, @db.close
    assert_predicate @db, :closed?
    assert_predicate iterator, :closed?
    assert_predicate snapshot, :closed?
    calls = [
      -> { @db['a'] }, -> { @db['a'] = '1' }, -> { @db.delete('a') }, -> { @db.each { flunk } }, -> { @db.to_a },
      -> { @db.batch { |b| b.put('a', '1') } }, -> { @db.snapshot }, -> { @db.iterator }, -> { @db.stats },
      -> { @db.compact }, -> { @db.approximate_size('a', 'b') }, -> { @db.exists?('a') }, -> { @db.each.next },
      -> { batch.put('a', '1') }, -> { batch.write! }, -> { batch.clear }, -> { snapshot['a'] }, -> { snapshot.to_a },
      -> { iterator.next }, -> { iterator.peek }, -> { iterator.each { flunk } }, -> { other.next }
    ]
    calls.each_with_index { |call, index| assert_raises(LevelDB::ClosedError, index.to_s, &call) }
    assert_raises(LevelDB::ClosedError) { 3.times { enumerator.next } }
    [iterator, snapshot, @db].each { |object| 2.times { object.close } }
  end

  def test_an_iterator_at_its_end_is_an_error_after_closing_too
    iterator = @db.iterator(from: '099')
    iterator.next
    assert_nil iterator.next
    @db.close
    assert_raises(LevelDB::ClosedError) { iterator.next }
  end

  def test_closing_within_a_loop_ends_it_with_an_error
    seen = 0
    assert_raises(LevelDB::ClosedError) do
      @db.each do
        seen += 1
        @db.close if seen == 10
      end
    end
    assert_equal 10, seen
  end

  def test_a_closed_iterator_is_an_error
    iterator = @db.iterator
    iterator.next
    iterator.close
    assert_raises(LevelDB::ClosedError) { iterator.next }
    assert_equal 0, held
  end

  def test_leaving_a_loop_frees_the_iterator
    @db.each { break }
    assert_equal 0, held
    assert_raises(RuntimeError) { @db.each { raise 'no' } }
    assert_equal 0, held
    catch(:done) { @db.each { throw :done } }
    assert_equal 0, held
    @db.each { next }
    assert_equal 0, held
    @db.first
    @db.lazy.map(&:first).first(3)
    @db.find { |key, _| key == '050' }
    assert_equal 0, held
    @db.each { break assert_equal(1, held) }
    assert_equal 0, held
    Thread.new { @db.each { Thread.current.kill } }.join
    assert_equal 0, held
  end

  def test_the_garbage_collector_frees_what_was_left
    50.times do
      out_of_sight do
        @db.snapshot
        @db.iterator.next
        @db.each.next
      end
    end
    collect { held <= 5 }
    assert_operator held, :<=, 5
    assert_equal 100, @db.size
  end

  def test_the_garbage_collector_closes_a_database
    paths = Array.new(10) { |i| File.join(@directory, i.to_s) }
    paths.each { |path| out_of_sight { LevelDB::DB.new(path).iterator.next } }
    opened = []
    collect do
      opened = paths.map do |path|
        LevelDB::DB.new(path).close
      rescue LevelDB::LockedError
        nil
      end
      opened.count(true) >= 8
    end
    assert_operator opened.count(true), :>=, 8
  end

  def test_the_process_ends_with_everything_open
    output = run_ruby!(<<~RUBY, File.join(@directory, 'other'))
      require 'leveldb'
      $db = LevelDB::DB.new(ARGV[0])
      100.times { |i| $db[i.to_s] = 'x' }
      $kept = [$db.iterator, $db.iterator, $db.snapshot, $db.snapshot.iterator, $db.each, $db.batch]
      $kept[0].next
      $kept[3].next
      $kept[4].next
      puts 'end'
    RUBY
    assert_equal "end\n", output
    LevelDB::DB.open(File.join(@directory, 'other')) { |db| assert_equal 100, db.size }
  end

  def test_a_forked_process_is_refused_and_ends
    iterator = @db.iterator
    iterator.next
    snapshot = @db.snapshot
    reader, writer = IO.pipe
    pid = fork do
      reader.close
      calls = [-> { @db['a'] }, -> { @db.to_a }, -> { snapshot['a'] }, -> { 3.times { iterator.next } }]
      outcomes = calls.map do |call|
        call.call
      rescue LevelDB::ClosedError => e
        e.message[/forked/]
      end
      writer.puts [*outcomes, @db.closed?, @db.close].inspect
      writer.close
      # exit! would not run finalizers; exit would run the tests.
      GC.start
      Process.exit!(0)
    end
    writer.close
    assert_equal %(["forked", "forked", "forked", "forked", true, true]\n), Timeout.timeout(30) { reader.read }
    Timeout.timeout(30) { Process.wait(pid) }
    assert_equal '1', @db['001'], 'the parent goes on'
    assert_equal '002', 2.times.map { iterator.next }.last.first
  end

  def test_finalizers_in_a_forked_process_do_nothing
    output = run_ruby!(<<~RUBY, File.join(@directory, 'other'))
      require 'leveldb'
      db = LevelDB::DB.new(ARGV[0])
      100.times { |i| db[i.to_s] = 'x' }
      iterator = db.iterator
      iterator.next
      Process.wait(fork { puts 'child' })
      puts $?.success?, db.size, iterator.count
    RUBY
    assert_equal "child\ntrue\n100\n99\n", output
  end

  def test_threads_use_one_database
    threads = Array.new(8) do |thread|
      Thread.new do
        200.times do |i|
          key = "t#{thread}-#{format('%03d', i)}"
          @db[key] = key
          assert_equal key, @db[key]
          @db.batch { |batch| batch.put("#{key}b", key) } if (i % 10).zero?
          assert_equal i + 1, @db.range("t#{thread}-", "t#{thread}-~").count { |k, _| !k.end_with?('b') } if (i % 50).zero?
          GC.start if i == 100
        end
      end
    end
    threads.each(&:join)
    assert_equal 100 + 8 * 220, @db.size
    assert_equal 0, held
  end

  def test_threads_share_an_iterator
    iterator = @db.iterator
    entries = Array.new(4) { Thread.new { Array.new(30) { iterator.next } } }.flat_map(&:value).compact
    assert_equal @db.to_a, entries.sort
  end

  def test_closing_waits_for_other_threads
    5.times do
      threads = Array.new(4) do
        Thread.new do
          loop do
            @db['x'] = 'y' * 1000
            @db.each(limit: 20).to_a
            @db.snapshot { |snapshot| snapshot['x'] }
          end
        rescue LevelDB::ClosedError
          :closed
        end
      end
      sleep 0.02
      @db.close
      assert_equal [:closed] * 4, threads.map(&:value)
      reopen
    end
  end

  def test_a_database_waits_for_a_child_that_another_thread_is_giving_back
    order = []
    began = Queue.new
    parent = LevelDB::Handle.new(1, 'database') { order << :parent }
    slowly = lambda do |_pointer|
      began << true
      sleep 0.1
      order << :child
    end
    child = parent.make_child('snapshot', slowly) { 2 }
    closing = Thread.new { child.close }
    began.pop
    parent.close
    closing.join
    assert_equal %i[child parent], order
  end

  def test_closing_while_reads_go_from_a_snapshot_to_the_database_does_not_hang
    20.times do
      snapshot = @db.snapshot
      threads = Array.new(4) do
        Thread.new do
          loop { snapshot['001'] }
        rescue LevelDB::ClosedError
          :closed
        end
      end
      sleep 0.005
      Timeout.timeout(30) { @db.close }
      assert_equal [:closed] * 4, threads.map(&:value)
      reopen
    end
  end

  def test_a_thread_that_is_interrupted_leaves_nothing_behind
    20.times do
      Timeout.timeout(0.01) { loop { @db.each { |key, value| @db[key] = value } } }
    rescue Timeout::Error
      nil
    end
    25.times do
      threads = Array.new(4) { Thread.new { loop { @db.snapshot { @db['001'] = 'x' } } } }
      sleep 0.01
      threads.each(&:kill).each(&:join)
    end
    # An iterator that was just made when its thread was killed belongs to the garbage collector, which may take old memory for
    # a pointer.
    collect { held.zero? }
    assert_operator held, :<=, 10
    Timeout.timeout(30) { @db.close }
  end

  def test_memory_does_not_grow
    output = run_ruby!(<<~'RUBY', File.join(@directory, 'other'), SHORT ? '6' : '8')
      require 'leveldb'
      db = LevelDB::DB.new(ARGV[0])
      round = lambda do
        2000.times do |i|
          db['key'] = 'x' * 1000
          db['key']
          db.each { break }
          db.each(fill_cache: true).first
          db.batch { |batch| batch.put('key', 'x' * 1000) }
          db.snapshot { |snapshot| snapshot['key'] }
          db.stats
          begin
            LevelDB::DB.create(ARGV[0])
          rescue LevelDB::Error
            nil
          end if (i % 20).zero?
        end
        GC.start
        File.read('/proc/self/statm').split[1].to_i * 4
      end
      # The write buffer fills in the first round.
      round.call
      # A round that ends while a full one is written to a slow disk holds two: the least of several rounds holds one.
      rounds = Array.new(ARGV[1].to_i) { round.call }
      puts rounds[3..].min - rounds[0..2].min
    RUBY
    # If 1,000 bytes leaked each of 6,000 times, that would be 6 MB.
    assert_operator output.to_i, :<, 4_000, 'kB'
  end
end
