# frozen_string_literal: true

# Reading, which works the same on a database and on its snapshots.
#
# DB and Snapshot, which have `get` and `iterator`, use this; it uses Iterator.
module LevelDB
  # What DB and Snapshot share, including all of Enumerable. Their elements are [key, value], in the order of the keys' bytes.
  module Reading
    include Enumerable

    # Returns the value of a key, or nil.
    def [](key)
      get(key)
    end

    # Returns the value of a key. If the key does not exist, returns the block's result or the default, or raises KeyError.
    def fetch(key, *default)
      raise ArgumentError, "fetch takes a key and a default, not #{1 + default.size} arguments" if default.size > 1

      value = get(key)
      return value unless value.nil?
      return yield(key) if block_given?
      return default.first unless default.empty?

      raise KeyError.new("key not found: #{key.inspect}", receiver: self, key: key)
    end

    # Whether the key exists.
    def exists?(key)
      !get(key).nil?
    end
    alias includes? exists?
    alias include? exists?
    alias contains? exists?
    alias member? exists?
    alias has_key? exists?
    alias key? exists?

    # Yields each [key, value], in the state of the database at the call. Returns self; without a block, an Enumerator.
    #
    # from:: where to begin: the first key at or after it
    # to:: the last key that counts
    # reversed:: go from the last key to the first; `from` is then where to begin, descending: at the first key at or
    #            after it, as in the gem leveldb-ruby, or at the last key of all; `to` is the lowest key that counts;
    #            +reverse_range+ takes no key beyond its bounds
    # exact:: with `reversed`, take no key above `from`
    # limit:: the most entries to yield
    # fill_cache:: keep the blocks that are read in the cache; false by default
    # verify_checksums:: as for +get+
    # snapshot:: read from this Snapshot
    #
    # The loop does not see writes made meanwhile. However the loop is left (break, an exception), it leaks nothing.
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

    # Yields the entries from one key to another, both included. nil means no bound.
    def range(from, to, options = {}, &block)
      return to_enum(:range, from, to, options) unless block

      each(options.merge(from: from, to: to), &block)
    end

    # Yields the same entries in reverse. Here, too, +from+ is the lower key.
    def reverse_range(from, to, options = {}, &block)
      return to_enum(:reverse_range, from, to, options) unless block

      each(options.merge(from: to, to: from, reversed: true, exact: true), &block)
    end

    # Returns all keys, or those that +each+ would yield with these options.
    def keys(options = {})
      each(options).map(&:first)
    end

    # Returns all values, or those that +each+ would yield with these options.
    def values(options = {})
      each(options).map(&:last)
    end

    # Returns the number of keys. It counts them one by one.
    def size
      count
    end

    # Whether there are no keys.
    def empty?
      each(limit: 1).none?
    end
  end
end
