# frozen_string_literal: true

require_relative 'helper'

# Batches and snapshots.
class BatchTest < DatabaseTest
  def setup
    super
    @db['a'] = '1'
    @db['b'] = '1'
  end

  def test_a_batch_is_written_at_the_end_of_its_block
    result = @db.batch do |batch|
      assert_equal 'batch', batch.put('a', 'batch')
      assert batch.delete('b')
      batch['c'] = "zero\0"
      assert_equal 3, batch.size
      assert_equal '1', @db['a']
    end
    assert_equal true, result
    assert_equal [%w[a batch], %w[c] + ["zero\0"]], @db.to_a
    @db.batch(sync: true) { |batch| batch.put 'b', 'batch' }
    assert_equal 'batch', @db['b']
  end

  def test_operations_keep_their_order
    @db.batch do |batch|
      batch.put 'x', '1'
      batch.delete 'x'
      batch.put 'y', '1'
      batch.delete 'z'
      batch.put 'y', '2'
    end
    assert_equal [%w[a 1], %w[b 1], %w[y 2]], @db.to_a
  end

  def test_nothing_is_written_if_the_block_raises_or_breaks
    assert_raises(RuntimeError) do
      @db.batch do |batch|
        batch.put 'a', '2'
        raise 'no'
      end
    end
    @db.batch do |batch|
      batch.put 'a', '2'
      break
    end
    assert_equal '1', @db['a']
  end

  def test_a_batch_without_a_block
    batch = @db.batch
    batch.put 'c', '1'
    assert_nil @db['c']
    assert batch.write!
    assert_equal '1', @db['c']
    batch.clear.delete('c')
    assert batch.write(sync: true)
    assert_nil @db['c']
    assert @db.write(batch)
  end

  def test_what_is_added_after_the_block_is_refused
    kept = nil
    @db.batch { |batch| kept = batch }
    error = assert_raises(LevelDB::Error) { kept.put 'c', '1' }
    assert_match(/was written/, error.message)
  end

  def test_keys_may_change_after_they_were_added
    key = +'c'
    @db.batch do |batch|
      batch.put key, key
      key << 'x'
    end
    assert_equal 'c', @db['c']
  end

  def test_a_batch_of_another_database_is_refused
    LevelDB::DB.open(File.join(@directory, 'other')) do |other|
      assert_raises(ArgumentError) { @db.write(other.batch) }
    end
    assert_raises(ArgumentError) { @db.write([]) }
    assert_raises(ArgumentError) { @db.batch(synced: true) { flunk } }
  end

  def test_a_large_batch
    @db.batch { |batch| 20_000.times { |i| batch.put format('%06d', i), i.to_s } }
    assert_equal 20_002, @db.size
    assert_equal '19999', @db['019999']
  end

  def test_a_snapshot_shows_its_moment
    snapshot = @db.snapshot
    @db['a'] = '2'
    @db['c'] = '2'
    @db.delete('b')
    assert_equal '1', snapshot['a']
    assert_equal '1', snapshot.get('b', fill_cache: false)
    assert_nil snapshot['c']
    assert snapshot.include?('b')
    assert_equal [%w[a 1], %w[b 1]], snapshot.to_a
    assert_equal [%w[b 1]], snapshot.reverse_each(limit: 1).to_a
    assert_equal %w[a b], snapshot.keys
    assert_equal '1', @db.get('b', snapshot: snapshot)
    assert_equal %w[a b], @db.each(snapshot: snapshot).map(&:first)
    assert_equal %w[a c], @db.keys
    assert_same @db, snapshot.db
    snapshot.release
    assert_raises(LevelDB::ClosedError) { snapshot['a'] }
    assert_raises(LevelDB::ClosedError) { @db.get('a', snapshot: snapshot) }
    assert_predicate snapshot, :released?
    snapshot.release
  end

  def test_a_snapshot_with_a_block_is_released
    kept = nil
    assert_equal '1', @db.snapshot { |snapshot| (kept = snapshot)['a'] }
    assert_predicate kept, :released?
    assert_equal 0, held
  end

  def test_an_iterator_outlives_its_snapshot
    iterator = @db.snapshot(&:iterator)
    @db.delete('a')
    @db.compact
    assert_equal [%w[a 1], %w[b 1]], iterator.to_a
  end

  def test_a_snapshot_of_another_database_is_refused
    LevelDB::DB.open(File.join(@directory, 'other')) do |other|
      assert_raises(ArgumentError) { @db.get('a', snapshot: other.snapshot) }
      assert_raises(ArgumentError) { @db.each(snapshot: other.snapshot).to_a }
    end
    assert_raises(ArgumentError) { @db.get('a', snapshot: 'no') }
    assert_raises(ArgumentError) { LevelDB::Snapshot.new('no') }
    assert_raises(ArgumentError) { LevelDB::WriteBatch.new('no') }
  end
end
