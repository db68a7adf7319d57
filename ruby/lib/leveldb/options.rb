# frozen_string_literal: true

# The options of a database.
#
# Predecessor: DB.make and its like. Successor: Native, which opens with them.
module LevelDB
  # How blocks of tables are compressed.
  module CompressionType
    NoCompression = :none
    SnappyCompression = :snappy
    # Smaller and slower. Only Terrace knows it; LevelDB 1.23 and older cannot read such a database.
    ZstdCompression = :zstd
  end

  # The options that a database was opened with.
  class Options
    DEFAULT_WRITE_BUFFER_SIZE = 4 << 20
    DEFAULT_MAX_OPEN_FILES = 1000
    DEFAULT_BLOCK_SIZE = 4 << 10
    DEFAULT_BLOCK_RESTART_INTERVAL = 16
    DEFAULT_MAX_FILE_SIZE = 2 << 20
    DEFAULT_COMPRESSION = CompressionType::SnappyCompression

    DEFAULTS = {
      create_if_missing: false,
      error_if_exists: false,
      paranoid_checks: false,
      read_only: false,
      write_buffer_size: DEFAULT_WRITE_BUFFER_SIZE,
      max_open_files: DEFAULT_MAX_OPEN_FILES,
      block_cache_size: nil,
      block_size: DEFAULT_BLOCK_SIZE,
      block_restart_interval: DEFAULT_BLOCK_RESTART_INTERVAL,
      max_file_size: DEFAULT_MAX_FILE_SIZE,
      compression: DEFAULT_COMPRESSION,
      bloom_filter_bits_per_key: nil,
      map_tables: true,
      map_log: true,
      encoding: Encoding::BINARY
    }.freeze
    ALIASES = { paranoid: :paranoid_checks }.freeze
    SWITCHES = %i[create_if_missing error_if_exists paranoid_checks].freeze
    # Of Terrace alone, and told to the library only if they are off.
    MAPPINGS = %i[map_tables map_log].freeze
    INTEGERS = %i[write_buffer_size max_open_files block_size block_restart_interval max_file_size].freeze
    OPTIONAL_INTEGERS = %i[block_cache_size bloom_filter_bits_per_key].freeze
    COMPRESSION_CODES = { none: 0, snappy: 1, zstd: 2 }.freeze
    # What a C int and a size hold, on every machine.
    MAX_INTEGER = (1 << 31) - 1
    private_constant :DEFAULTS, :ALIASES, :SWITCHES, :MAPPINGS, :INTEGERS, :OPTIONAL_INTEGERS, :COMPRESSION_CODES, :MAX_INTEGER

    # create_if_missing:: Makes the database if there is none.
    # error_if_exists:: Refuses a database that exists.
    # paranoid_checks:: Refuses a log that a loss of power left incomplete. Also named +paranoid+.
    # read_only:: Opens without lock and without changing a byte, also beside a running writer. Terrace only.
    # write_buffer_size:: Bytes that are kept in memory before they become a table.
    # max_open_files:: Tables that are held open.
    # block_cache_size:: Bytes of the cache of blocks; nil is the library's, 8 MiB.
    # block_size:: Bytes of a block before compression.
    # block_restart_interval:: Keys from one that is stored in full to the next.
    # max_file_size:: Bytes of a table at which the next begins.
    # compression:: One of CompressionType.
    # bloom_filter_bits_per_key:: Makes filters, which spare reads of keys that are not there; nil makes none.
    # map_tables:: Reads tables through a mapping: faster, but a device that fails under it ends the process. Off in Terrace only.
    # map_log:: Stores writes into a mapping of the log where the file system is fit for it. Off in Terrace only.
    # encoding:: The encoding that keys and values have when they come out of the database.
    attr_reader(*DEFAULTS.keys)

    # +given+ is a Hash of what differs from the defaults. A nil leaves a default.
    #
    # Raises ArgumentError for an option that is none, or out of bounds, TypeError for a value that makes no sense.
    def initialize(given = {})
      given = given.to_h.transform_keys { |name| ALIASES.fetch(name, name) }
      unknown = given.keys - DEFAULTS.keys
      raise ArgumentError, "unknown options: #{unknown.map(&:inspect).join(', ')}" unless unknown.empty?

      DEFAULTS.merge(given.compact).each { |name, value| instance_variable_set(:"@#{name}", checked(name, value)) }
      freeze
    end

    # Makes the library's object with these options. Returns its address, and a proc that frees it with what belongs to it,
    # which is to be called after the database was closed.
    #
    # Raises NotSupportedError for what the library has no function for.
    def to_native
      unmap = MAPPINGS.reject { |name| public_send(name) }.map { |name| DB.beyond(:"TERRACE_OPTIONS_SET_#{name.upcase}") }
      options = Native::OPTIONS_CREATE.call
      unmap.each { |function| function.call(options, 0) }
      SWITCHES.each { |name| set(options, name, public_send(name) ? 1 : 0) }
      INTEGERS.each { |name| set(options, name, public_send(name)) }
      set(options, :compression, COMPRESSION_CODES.fetch(compression))
      cache = block_cache_size && Native::CACHE_CREATE_LRU.call(block_cache_size)
      set(options, :cache, cache) if cache
      policy = bloom_filter_bits_per_key && Native::FILTERPOLICY_CREATE_BLOOM.call(bloom_filter_bits_per_key)
      set(options, :filter_policy, policy) if policy
      [options, Options.freeing(options, cache, policy)]
    end

    # A proc that refers to nothing but the addresses.
    def self.freeing(options, cache, policy)
      proc do
        Native::OPTIONS_DESTROY.call(options)
        Native::CACHE_DESTROY.call(cache) if cache
        Native::FILTERPOLICY_DESTROY.call(policy) if policy
      end
    end

    private

    def set(options, name, value)
      Native.const_get("OPTIONS_SET_#{name.upcase}").call(options, value)
    end

    def checked(name, value)
      case name
      when *INTEGERS then integer(name, value)
      when *OPTIONAL_INTEGERS then value && integer(name, value)
      when :compression then known_compression(value)
      when :encoding then Encoding.find(value)
      else value ? true : false
      end
    rescue TypeError
      raise TypeError, "#{name} cannot be #{value.inspect}"
    end

    def integer(name, value)
      raise TypeError unless value.is_a?(Integer)
      raise ArgumentError, "#{name} must be from 0 to #{MAX_INTEGER}" unless value.between?(0, MAX_INTEGER)

      value
    end

    def known_compression(value)
      raise TypeError unless value.is_a?(Symbol)
      return value if COMPRESSION_CODES.key?(value)

      raise ArgumentError, "compression must be one of #{COMPRESSION_CODES.keys.map(&:inspect).join(', ')}"
    end
  end
end
