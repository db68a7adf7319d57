# frozen_string_literal: true

require_relative 'helper'

# Reading and writing single entries: what goes in, and what comes out.
class DBTest < DatabaseTest
  def test_entries_come_in_the_order_of_their_keys
    @db.put 'b', 'bar'
    @db.put 'a', 'foo'
    assert_equal [%w[a foo], %w[b bar]], @db.to_a
  end

  def test_put_returns_the_value_and_get_finds_it
    assert_equal 'works', @db.put('it', 'works')
    assert_equal 'works', @db.get('it')
    assert_equal 'works', @db['it']
    @db['it'] = 'still'
    assert_equal 'still', @db['it']
    assert_nil @db['none']
  end

  def test_put_and_get_with_options
    @db.put 'a', '1', sync: true
    @db.put 'b', '2', sync: false
    assert_equal '1', @db.get('a', fill_cache: false, verify_checksums: true)
    assert_equal '2', @db.get('b', {})
    assert_raises(ArgumentError) { @db.put('a', '1', synced: true) }
    assert_raises(ArgumentError) { @db.get('a', sync: true) }
  end

  def test_delete_returns_the_value_that_was_there
    @db['a'] = '1'
    assert_equal '1', @db.delete('a')
    assert_nil @db.delete('a', sync: true)
    assert_nil @db['a']
  end

  def test_fetch
    @db['a'] = '1'
    assert_equal '1', @db.fetch('a')
    assert_equal 'x', @db.fetch('b', 'x')
    assert_nil @db.fetch('b', nil)
    assert_equal 'bb', @db.fetch('b') { |key| key * 2 }
    error = assert_raises(KeyError) { @db.fetch('b') }
    assert_equal 'b', error.key
    assert_raises(ArgumentError) { @db.fetch('b', 1, 2) }
  end

  def test_all_names_of_exists
    @db['a'] = ''
    %i[exists? includes? include? contains? member? has_key? key?].each do |name|
      assert @db.public_send(name, 'a'), name
      refute @db.public_send(name, 'b'), name
    end
  end

  def test_keys_values_and_size
    assert_empty @db
    %w[c a b].each { |key| @db[key] = key * 2 }
    assert_equal %w[a b c], @db.keys
    assert_equal %w[aa bb cc], @db.values
    assert_equal %w[b c], @db.keys(from: 'b')
    assert_equal 3, @db.size
    refute_empty @db
  end

  def test_keys_and_values_of_any_bytes
    all = (0..255).map(&:chr).join.b
    samples = ['', "\0", "a\0b", "\0\0", all, all * 5_000]
    samples.each { |bytes| @db[bytes] = bytes.reverse }
    reopen
    samples.each { |bytes| assert_equal bytes.reverse, @db[bytes] }
    assert_equal samples.sort, @db.keys
  end

  def test_an_empty_value_is_not_a_missing_one
    @db['a'] = ''
    assert_equal '', @db['a']
    assert_nil @db['b']
    assert_equal [['a', '']], @db.to_a
  end

  def test_what_comes_out_is_binary
    @db['clé'] = 'naïve'
    value = @db['clé']
    assert_equal Encoding::BINARY, value.encoding
    assert_equal 'naïve'.b, value
    assert_equal([['clé'.b, 'naïve'.b]], @db.to_a)
    assert(@db.to_a.flatten.all? { |string| string.encoding == Encoding::BINARY })
    assert_equal Encoding::BINARY, @db.tap { |db| db['e'] = '' }['e'].encoding
  end

  def test_the_option_encoding_says_what_comes_out
    reopen(encoding: 'UTF-8')
    @db['clé'] = 'naïve'
    assert_equal 'naïve', @db['clé']
    assert_equal [%w[clé naïve]], @db.to_a
    assert_equal [%w[clé naïve]], @db.each(from: 'clé'.b, to: 'clé').to_a
    assert_equal 'naïve', @db.snapshot { |snapshot| snapshot['clé'] }
    assert_equal 'naïve', @db['clé'.b]
  end

  def test_strings_go_in_as_the_bytes_they_are
    wide = 'ab'.encode('UTF-16LE')
    @db[wide] = wide
    assert_equal "a\0b\0".b, @db["a\0b\0"]
  end

  def test_what_goes_in_is_neither_changed_nor_kept
    key = +'key'
    value = +'value'
    assert_same value, @db.put(key, value)
    key << 'x'
    value << 'x'
    @db.put('frozen', 'frozen')
    refute_predicate key, :frozen?
    assert_equal [%w[frozen frozen], %w[key value]], @db.to_a
  end

  def test_what_comes_out_may_be_changed
    @db['a'] = '1'
    @db['a'] << '2'
    @db.first.each { |string| string << 'x' }
    assert_equal [%w[a 1]], @db.to_a
  end

  def test_what_is_no_string_is_refused
    [:a, 1, nil, ['a'], { a: 1 }].each do |wrong|
      assert_raises(TypeError) { @db.put(wrong, 'value') }
      assert_raises(TypeError) { @db.put('key', wrong) }
      assert_raises(TypeError) { @db.get(wrong) }
      assert_raises(TypeError) { @db.delete(wrong) }
      assert_raises(TypeError) { @db.exists?(wrong) }
      assert_raises(TypeError) { @db.batch { |batch| batch.put(wrong, 'value') } }
    end
    assert_raises(TypeError) { @db.each(from: :a).to_a }
    error = assert_raises(TypeError) { @db.put('key', :symbol) }
    assert_match(/a value must be a String, not :symbol \(Symbol\)/, error.message)
    assert_empty @db
  end

  def test_what_acts_as_a_string_is_one
    name = Object.new
    def name.to_str = 'name'
    @db[name] = name
    assert_equal 'name', @db['name']
  end

  def test_entries_survive_closing
    1000.times { |i| @db[i.to_s] = 'x' * 100 }
    reopen
    assert_equal 1000, @db.size
  end

  def test_properties
    assert_match(/Compactions/, @db.stats)
    assert_equal '0', @db.property('leveldb.num-files-at-level0')
    assert_nil @db.property('leveldb.none')
  end

  def test_sizes_and_compaction
    2000.times { |i| @db[format('%05d', i)] = Random.bytes(1000) }
    assert_nil @db.compact
    whole = @db.approximate_size('', 'x')
    half = @db.approximate_size('00000', '01000')
    assert_operator whole, :>, 1_900_000
    assert_in_delta 0.5, half.fdiv(whole), 0.1
    @db.compact('00100', '00200')
    assert_equal 2000, @db.size
  end

  def test_inspect_names_the_path
    assert_equal %(#<LevelDB::DB "#{@path}">), @db.inspect
    @db.close
    assert_equal %(#<LevelDB::DB "#{@path}" (closed)>), @db.inspect
  end

  def test_databases_cannot_be_copied
    assert_raises(TypeError) { @db.dup }
    assert_raises(TypeError) { @db.clone }
    assert_raises(TypeError) { @db.snapshot(&:dup) }
    assert_raises(TypeError) { @db.iterator.dup }
  end
end
