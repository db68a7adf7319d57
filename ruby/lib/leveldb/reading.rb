# frozen_string_literal: true

# Reading, the same from a database and from a snapshot of it.
#
# Predecessor: DB and Snapshot, which have `get` and `iterator`. Successor: Iterator.
module LevelDB
  # What DB and Snapshot have in common, with all of Enumerable: their elements are [key, value], in the order of the
  # keys' bytes.
  module Reading
    include Enumerable

    # The value of a key, or nil.
    def [](key)
      get(key)
    end

    # The value of a key. Without one: the block's result, the default, or a KeyError.
    def fetch(key, *default)
      raise ArgumentError, "fetch takes a key and a default, not #{1 + default.size} arguments" if default.size > 1

      value = get(key)
      return value unless value.nil?
      return yield(key) if block_given?
      return default.first unless default.empty?

      raise KeyError.new("key not found: #{key.inspect}", receiver: self, key: key)
    end

    # Whether there is such a key.
    def exists?(key)
      !get(key).nil?
    end
    alias includes? exists?
    alias include? exists?
    alias contains? exists?
    alias member? exists?
    alias has_key? exists?
    alias key? exists?

    # Yields each [key, value], as of the moment of the call. Returns self; without a block, an Enumerator.
    #
    # from:: where to begin: the first key at or after it
    # to:: the last key that counts
    # reversed:: Go from the last key to the first. `from` is then where to begin on the way down: at the first key at or
    #            after it, as in the gem leveldb-ruby, or at the last key of all; `to` is the lowest key that counts.
    #            +reverse_range+ takes no key beyond its bounds.
    # exact:: With `reversed`, take no key above `from`.
    # limit:: yield no more than so many
    # fill_cache:: keep the blocks read in the cache; not by default
    # verify_checksums:: as for +get+
    # snapshot:: read from this Snapshot
    #
    # Writes during the loop are not seen by it. However the loop is left (break, an exception), nothing stays behind.
    def each(options = {}, &block)
      return to_enum(:each, options) unless block

      iterator(options).each(&block)
      self
    end

    # The same in reverse.
    def reverse_each(options = {}, &block)
      return to_enum(:reverse_each, options) unless block

      each({ reversed: true }.merge(options), &block)
    end

    # Yields what lies from one key to another, both included. nil is an open end.
    def range(from, to, options = {}, &block)
      return to_enum(:range, from, to, options) unless block

      each(options.merge(from: from, to: to), &block)
    end

    # The same entries in reverse: +from+ is the lower key here, too.
    def reverse_range(from, to, options = {}, &block)
      return to_enum(:reverse_range, from, to, options) unless block

      each(options.merge(from: to, to: from, reversed: true, exact: true), &block)
    end

    # All keys, or those that +each+ would yield with these options.
    def keys(options = {})
      each(options).map(&:first)
    end

    # The same for values.
    def values(options = {})
      each(options).map(&:last)
    end

    # How many keys there are. It counts them, one by one.
    def size
      count
    end

    # Whether there is no key.
    def empty?
      each(limit: 1).none?
    end
  end
end
