# frozen_string_literal: true

# The options of a database.
#
# DB.make and similar methods use this; it uses Native.
module LevelDB
  # How blocks of tables are compressed.
  module CompressionType
    NoCompression = :none
    SnappyCompression = :snappy
    # Smaller and slower. Only Terrace knows it; LevelDB 1.23 and older cannot read such a database.
    ZstdCompression = :zstd
  end

  # The options that a database was opened with: each is an attribute.
  #--
  # options.json: documentation (make options)
  #++
  # create_if_missing:: Create the database if there is none.
  # error_if_exists:: Fail if a database already exists.
  # read_only:: Open without the lock and without changing a byte, even beside a process that writes; shows the state as of opening, or of `refresh` (Terrace only).
  # compression:: `:none`, `:snappy` or `:zstd` (Terrace only), or a constant of `LevelDB::CompressionType`.
  # block_cache_size:: Memory for blocks that have been read; 0 turns the cache off.
  # write_buffer_size:: Memory for recent writes before they are written to a table.
  # block_size:: Uncompressed size of a block, the unit of reading and caching.
  # block_restart_interval:: Entries between two keys that are stored whole.
  # max_file_size:: Size at which a table is finished and the next one begun.
  # max_open_files:: Tables kept open; a mapped table needs no file descriptor.
  # bloom_filter_bits_per_key:: Size of the filter that avoids reads for absent keys; 10 saves 99 of 100.
  # map_tables:: Read tables through memory mappings: faster, but a read error of the device then ends the process (Terrace only).
  # map_log:: Write to the log through a memory mapping where the file system supports it; when off, each write is a system call (Terrace only).
  # paranoid_checks:: Fail where a power loss left a hole in a log; also named `paranoid`.
  # encoding:: Encoding of the returned keys and values.
  #--
  # options.json: end
  #++
  class Options
    # Options that LevelDB's interface sets to the given value: how each is checked, and its default.
    PLAIN = {
      # options.json: plain values (make options)
      create_if_missing: [:switch, false],
      error_if_exists: [:switch, false],
      write_buffer_size: [:integer, 4 << 20],
      block_size: [:integer, 4 << 10],
      block_restart_interval: [:integer, 16],
      max_file_size: [:integer, 2 << 20],
      max_open_files: [:integer, 1000],
      paranoid_checks: [:switch, false]
      # options.json: end
    }.freeze
    # The same for options of Terrace alone. The library is only told values that differ from the default.
    BEYOND = {
      # options.json: plain values of Terrace alone (make options)
      map_tables: [:switch, true],
      map_log: [:switch, true]
      # options.json: end
    }.freeze
    KINDS = PLAIN.merge(BEYOND).transform_values(&:first).freeze
    DEFAULTS = PLAIN.merge(BEYOND).transform_values(&:last).merge(
      read_only: false,
      block_cache_size: nil,
      compression: CompressionType::SnappyCompression,
      bloom_filter_bits_per_key: nil,
      encoding: Encoding::BINARY
    ).freeze
    ALIASES = { paranoid: :paranoid_checks }.freeze
    COMPRESSION_CODES = { none: 0, snappy: 1, zstd: 2 }.freeze
    # The largest value that both a C int and a size hold on every machine.
    MAX_INTEGER = (1 << 31) - 1
    private_constant :PLAIN, :BEYOND, :KINDS, :DEFAULTS, :ALIASES, :COMPRESSION_CODES, :MAX_INTEGER

    DEFAULT_WRITE_BUFFER_SIZE = DEFAULTS.fetch(:write_buffer_size)
    DEFAULT_MAX_OPEN_FILES = DEFAULTS.fetch(:max_open_files)
    DEFAULT_BLOCK_SIZE = DEFAULTS.fetch(:block_size)
    DEFAULT_BLOCK_RESTART_INTERVAL = DEFAULTS.fetch(:block_restart_interval)
    DEFAULT_MAX_FILE_SIZE = DEFAULTS.fetch(:max_file_size)
    DEFAULT_COMPRESSION = DEFAULTS.fetch(:compression)

    attr_reader(*DEFAULTS.keys)

    # +given+ is a Hash of the options that differ from the defaults. A nil leaves a default.
    #
    # Raises ArgumentError for an unknown option or one out of bounds, TypeError for a value of the wrong type.
    def initialize(given = {})
      given = given.to_h.transform_keys { |name| ALIASES.fetch(name, name) }
      unknown = given.keys - DEFAULTS.keys
      raise ArgumentError, "unknown options: #{unknown.map(&:inspect).join(', ')}" unless unknown.empty?

      DEFAULTS.merge(given.compact).each { |name, value| instance_variable_set(:"@#{name}", checked(name, value)) }
      freeze
    end

    # Makes the library's object with these options. Returns its address, and a proc that frees it together with what belongs to
    # it. Call the proc after the database has been closed.
    #
    # Raises NotSupportedError for an option that the library has no function for.
    def to_native
      beyond = BEYOND.filter_map do |name, (_, default)|
        value = public_send(name)
        [DB.beyond(:"TERRACE_OPTIONS_SET_#{name.upcase}"), value] unless value == default
      end
      options = Native::OPTIONS_CREATE.call
      beyond.each { |function, value| function.call(options, in_c(value)) }
      PLAIN.each_key { |name| set(options, name, in_c(public_send(name))) }
      set(options, :compression, COMPRESSION_CODES.fetch(compression))
      cache = block_cache_size && Native::CACHE_CREATE_LRU.call(block_cache_size)
      set(options, :cache, cache) if cache
      policy = bloom_filter_bits_per_key && Native::FILTERPOLICY_CREATE_BLOOM.call(bloom_filter_bits_per_key)
      set(options, :filter_policy, policy) if policy
      [options, Options.freeing(options, cache, policy)]
    end

    # Returns a proc that refers to nothing but the addresses.
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

    # A switch or an integer, as C's functions take it.
    def in_c(value)
      case value
      when true then 1
      when false then 0
      else value
      end
    end

    def checked(name, value)
      return integer(name, value) if KINDS[name] == :integer

      case name
      when :block_cache_size, :bloom_filter_bits_per_key then value && integer(name, value)
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
