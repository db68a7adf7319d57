# frozen_string_literal: true

require_relative 'helper'

# Loops over ranges, in both directions, with blocks and enumerators.
class EachTest < DatabaseTest
  ALL = [%w[a/1 1], %w[b/1 2], %w[b/2 3], %w[b/3 4], %w[c/1 5]].freeze
  KEYS = ALL.map(&:first).freeze

  def setup
    super
    ALL.shuffle.each { |key, value| @db.put key, value }
  end

  def keys(options = {})
    @db.each(options).map(&:first)
  end

  def test_each_yields_keys_and_values_and_returns_the_database
    entries = []
    assert_same @db, @db.each { |key, value| entries << [key, value] }
    assert_equal ALL, entries
  end

  def test_from_and_to_are_both_included
    assert_equal KEYS[1..], keys(from: 'b')
    assert_equal KEYS[1..], keys(from: 'b/1')
    assert_equal KEYS[1..3], keys(from: 'b', to: 'b/4')
    assert_equal KEYS[1..3], keys(from: 'b/1', to: 'b/3')
    assert_equal KEYS[..2], keys(to: 'b/2')
    assert_equal [], keys(from: 'd')
    assert_equal [], keys(to: 'a')
    assert_equal [], keys(from: 'b', to: 'a')
    assert_equal KEYS, keys(from: '')
    assert_equal [], keys(to: '')
    assert_equal KEYS, keys(from: nil, to: nil, limit: nil)
  end

  def test_reversed
    assert_equal KEYS.reverse, keys(reversed: true)
    assert_equal KEYS, keys(reversed: false)
    assert_equal KEYS[..2].reverse, keys(reversed: true, from: 'b/2')
    assert_equal KEYS[1..3].reverse, keys(reversed: true, from: 'b/3', to: 'b')
    assert_equal KEYS[3..].reverse, keys(reversed: true, to: 'b/3')
  end

  # As in leveldb-ruby, whose tests have these cases.
  def test_reversed_begins_at_the_first_key_at_or_after_from
    assert_equal %w[b/1 a/1], keys(reversed: true, from: 'b')
    assert_equal %w[c/1 b/3 b/2 b/1], keys(reversed: true, from: 'c', to: 'b')
    assert_equal KEYS.reverse, keys(reversed: true, from: 'd'), 'or at the last one'
    assert_equal %w[a/1], keys(reversed: true, from: 'b', exact: true)
    assert_equal [], keys(reversed: true, from: 'a', exact: true)
  end

  def test_ranges_are_the_same_in_both_directions
    bounds = [nil, '', 'a', 'a/1', 'a/2', 'b', 'b/2', 'b/4', 'c', 'c/1', 'd']
    bounds.product(bounds) do |from, to|
      expected = KEYS.select { |key| (from.nil? || key >= from) && (to.nil? || key <= to) }
      assert_equal expected, @db.range(from, to).map(&:first), [from, to].inspect
      assert_equal expected.reverse, @db.reverse_range(from, to).map(&:first), [from, to].inspect
    end
    yielded = []
    assert_same @db, @db.range('b', 'c') { |key, _| yielded << key }
    assert_same @db, @db.reverse_range('b', 'c', limit: 1) { |key, _| yielded << key }
    assert_equal %w[b/1 b/2 b/3 b/3], yielded
  end

  def test_limit
    assert_equal [], keys(limit: 0)
    assert_equal KEYS.first(2), keys(limit: 2)
    assert_equal KEYS, keys(limit: 99)
    assert_equal %w[b/2 b/1], keys(from: 'b/2', reversed: true, limit: 2)
    assert_raises(ArgumentError) { keys(limit: -1) }
    assert_raises(ArgumentError) { keys(limit: 'x') }
  end

  def test_unknown_options_are_refused
    assert_raises(ArgumentError) { keys(form: 'a') }
    assert_raises(ArgumentError) { @db.iterator(gt: 'a') }
  end

  def test_without_a_block_there_is_an_enumerator
    each = @db.each(from: 'b')
    assert_instance_of Enumerator, each
    assert_equal %w[b/1 2], each.next
    assert_equal %w[b/2 3], each.peek
    assert_equal %w[b/2 3], each.next
    assert_equal KEYS[1..], each.map(&:first), 'it can be used again'
    assert_equal ALL.last, @db.reverse_each.next
    assert_equal ALL.each_with_index.to_a, @db.each.with_index.to_a
    assert_equal ALL[3], @db.each.lazy.select { |_, value| value > '3' }.first
  end

  def test_enumerable
    assert_equal ALL.to_h, @db.to_h
    assert_equal ALL.first, @db.first
    assert_equal ALL.first(2), @db.first(2)
    assert_equal ALL.last, @db.max
    assert_equal 5, @db.count
    assert_equal 15, @db.sum { |_, value| value.to_i }
    assert_equal(%w[b/2], @db.lazy.map { |key, _| key }.select { |key| key.end_with?('2') }.to_a)
    assert_equal %w[12345], [@db.inject(+'') { |all, (_, value)| all << value }]
    assert_equal({ 'a' => 1, 'b' => 3, 'c' => 1 }, @db.map { |key, _| key[0] }.tally)
  end

  def test_what_is_written_during_a_loop_is_not_seen_by_it
    seen = @db.map do |key, _|
      @db["#{key}+"] = 'new'
      @db.delete('c/1')
      key
    end
    assert_equal KEYS, seen
    assert_equal 9, @db.size
  end

  def test_nested_loops
    assert_equal 25, @db.sum { @db.count }
  end

  def test_many_entries_in_both_directions
    expected = Array.new(3000) { |i| [format('k%05d', i), 'v' * (i % 50)] }
    expected.shuffle.each { |key, value| @db.put key, value }
    assert_equal expected, @db.each(from: 'k').to_a
    assert_equal expected.reverse, @db.reverse_each(to: 'k').to_a
    assert_equal expected[1000, 500], @db.each(from: 'k01000', limit: 500).to_a
  end

  def test_entries_larger_than_what_is_read_ahead
    5.times { |i| @db["z#{i}"] = i.to_s * 200_000 }
    assert_equal([200_000] * 5, @db.each(from: 'z').map { |_, value| value.bytesize })
  end

  def test_an_iterator_gives_one_entry_at_a_time
    iterator = @db.iterator
    assert_equal %w[a/1 1], iterator.peek
    assert_equal %w[a/1 1], iterator.next
    assert_nil iterator.scan
    assert_equal %w[b/2 3], iterator.peek
    assert_equal KEYS[2..], iterator.map(&:first)
    assert_nil iterator.next
    assert_nil iterator.peek
    assert_nil iterator.next
    assert_equal [], iterator.to_a
  end

  def test_an_iterator_knows_its_options
    iterator = LevelDB::Iterator.new(@db, from: 'abc', to: 'def', reversed: true, limit: 7)
    assert_same @db, iterator.db
    assert_equal ['abc', 'def', 7], [iterator.from, iterator.to, iterator.limit]
    assert_predicate iterator, :reversed?
    refute_predicate LevelDB::Iterator.new(@db), :reversed?
    assert_match(/from="abc" to="def" \(reversed\)/, iterator.inspect)
    assert_raises(ArgumentError) { LevelDB::Iterator.new }
    assert_raises(ArgumentError) { LevelDB::Iterator.new('db') }
  end

  def test_an_iterator_shows_the_moment_it_was_made
    iterator = @db.iterator
    @db['a/0'] = 'new'
    assert_equal ALL, iterator.to_a
  end
end
