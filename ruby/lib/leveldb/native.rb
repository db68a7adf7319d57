# frozen_string_literal: true

require 'fiddle'

# The C functions, and bytes on their way to them and back.
#
# The classes that programs use call this; it calls the C library.
module LevelDB
  # Internal to the gem.
  #
  # Objects of the library are Integers here: their addresses. Each function is a constant, named without its prefix:
  # `leveldb_put` is PUT. The functions are called without Ruby's lock, so that other threads run meanwhile, except those that
  # only look or step.
  module Native
    OBJECT = Fiddle::TYPE_UINTPTR_T
    BYTES = Fiddle::TYPE_VOIDP
    SIZE = Fiddle::TYPE_SIZE_T
    FLAG = -Fiddle::TYPE_CHAR
    INT = Fiddle::TYPE_INT
    NOTHING = Fiddle::TYPE_VOID
    private_constant :OBJECT, :BYTES, :SIZE, :FLAG, :INT, :NOTHING

    # Functions that may wait for files, locks or other threads.
    WAITING = {
      leveldb_open: [OBJECT, [OBJECT, BYTES, BYTES]],
      leveldb_close: [NOTHING, [OBJECT]],
      leveldb_put: [NOTHING, [OBJECT, OBJECT, BYTES, SIZE, BYTES, SIZE, BYTES]],
      leveldb_delete: [NOTHING, [OBJECT, OBJECT, BYTES, SIZE, BYTES]],
      leveldb_write: [NOTHING, [OBJECT, OBJECT, OBJECT, BYTES]],
      leveldb_get: [OBJECT, [OBJECT, OBJECT, BYTES, SIZE, BYTES, BYTES]],
      leveldb_create_iterator: [OBJECT, [OBJECT, OBJECT]],
      leveldb_create_snapshot: [OBJECT, [OBJECT]],
      leveldb_release_snapshot: [NOTHING, [OBJECT, OBJECT]],
      leveldb_property_value: [OBJECT, [OBJECT, BYTES]],
      leveldb_approximate_sizes: [NOTHING, [OBJECT, INT, BYTES, BYTES, BYTES, BYTES, BYTES]],
      leveldb_compact_range: [NOTHING, [OBJECT, BYTES, SIZE, BYTES, SIZE]],
      leveldb_destroy_db: [NOTHING, [OBJECT, BYTES, BYTES]],
      leveldb_repair_db: [NOTHING, [OBJECT, BYTES, BYTES]],
      leveldb_iter_destroy: [NOTHING, [OBJECT]],
      leveldb_iter_seek_to_first: [NOTHING, [OBJECT]],
      leveldb_iter_seek_to_last: [NOTHING, [OBJECT]],
      leveldb_iter_seek: [NOTHING, [OBJECT, BYTES, SIZE]],
      leveldb_iter_next: [NOTHING, [OBJECT]],
      leveldb_iter_prev: [NOTHING, [OBJECT]]
    }.freeze

    # Functions that return at once.
    QUICK = {
      leveldb_iter_valid: [FLAG, [OBJECT]],
      leveldb_iter_key: [OBJECT, [OBJECT, BYTES]],
      leveldb_iter_value: [OBJECT, [OBJECT, BYTES]],
      leveldb_iter_get_error: [NOTHING, [OBJECT, BYTES]],
      leveldb_writebatch_create: [OBJECT, []],
      leveldb_writebatch_destroy: [NOTHING, [OBJECT]],
      leveldb_writebatch_put: [NOTHING, [OBJECT, BYTES, SIZE, BYTES, SIZE]],
      leveldb_writebatch_delete: [NOTHING, [OBJECT, BYTES, SIZE]],
      leveldb_options_create: [OBJECT, []],
      leveldb_options_destroy: [NOTHING, [OBJECT]],
      leveldb_options_set_filter_policy: [NOTHING, [OBJECT, OBJECT]],
      leveldb_options_set_cache: [NOTHING, [OBJECT, OBJECT]],
      leveldb_options_set_compression: [NOTHING, [OBJECT, INT]],
      leveldb_filterpolicy_create_bloom: [OBJECT, [INT]],
      leveldb_filterpolicy_destroy: [NOTHING, [OBJECT]],
      leveldb_cache_create_lru: [OBJECT, [SIZE]],
      leveldb_cache_destroy: [NOTHING, [OBJECT]],
      leveldb_readoptions_create: [OBJECT, []],
      leveldb_readoptions_destroy: [NOTHING, [OBJECT]],
      leveldb_readoptions_set_verify_checksums: [NOTHING, [OBJECT, FLAG]],
      leveldb_readoptions_set_fill_cache: [NOTHING, [OBJECT, FLAG]],
      leveldb_readoptions_set_snapshot: [NOTHING, [OBJECT, OBJECT]],
      leveldb_writeoptions_create: [OBJECT, []],
      leveldb_writeoptions_set_sync: [NOTHING, [OBJECT, FLAG]],
      leveldb_free: [NOTHING, [OBJECT]],
      # options.json: setters (make options)
      leveldb_options_set_create_if_missing: [NOTHING, [OBJECT, FLAG]],
      leveldb_options_set_error_if_exists: [NOTHING, [OBJECT, FLAG]],
      leveldb_options_set_write_buffer_size: [NOTHING, [OBJECT, SIZE]],
      leveldb_options_set_block_size: [NOTHING, [OBJECT, SIZE]],
      leveldb_options_set_block_restart_interval: [NOTHING, [OBJECT, INT]],
      leveldb_options_set_max_file_size: [NOTHING, [OBJECT, SIZE]],
      leveldb_options_set_max_open_files: [NOTHING, [OBJECT, INT]],
      leveldb_options_set_paranoid_checks: [NOTHING, [OBJECT, FLAG]]
      # options.json: end
    }.freeze

    # Functions that Terrace has and LevelDB does not. With LevelDB's library, their constants are nil.
    BEYOND = {
      terrace_version: [OBJECT, []],
      terrace_open_read_only: [OBJECT, [OBJECT, BYTES, BYTES]],
      terrace_close: [NOTHING, [OBJECT, BYTES]],
      terrace_refresh: [NOTHING, [OBJECT, BYTES]],
      terrace_flush: [NOTHING, [OBJECT, BYTES]],
      terrace_checkpoint: [NOTHING, [OBJECT, BYTES, BYTES]],
      terrace_verify: [NOTHING, [OBJECT, BYTES]],
      terrace_left_out: [OBJECT, [OBJECT]],
      # options.json: setters of Terrace alone (make options)
      terrace_options_set_map_tables: [NOTHING, [OBJECT, FLAG]],
      terrace_options_set_map_log: [NOTHING, [OBJECT, FLAG]]
      # options.json: end
    }.freeze
    private_constant :WAITING, :QUICK, :BEYOND

    # The library in use.
    LIBRARY = Library.find

    def self.function(name, signature, need_gvl:)
      address = LIBRARY.address(name.to_s) or return
      result, arguments = signature
      Fiddle::Function.new(address, arguments, result, need_gvl: need_gvl, name: name.to_s)
    end
    private_class_method :function

    WAITING.each { |name, signature| const_set(name[8..].upcase, function(name, signature, need_gvl: false)) }
    QUICK.each { |name, signature| const_set(name[8..].upcase, function(name, signature, need_gvl: true)) }
    BEYOND.each { |name, signature| const_set(name.upcase, function(name, signature, need_gvl: false)) }

    missing = (WAITING.keys + QUICK.keys).reject { |name| const_get(name[8..].upcase) }
    unless missing.empty?
      raise LibraryNotFoundError, "#{LIBRARY.path} lacks functions of LevelDB's C interface: #{missing.join(', ')}"
    end

    # The contents of an out parameter before the call: a zero pointer or size.
    EMPTY_SLOT = [0].pack('J').freeze
    private_constant :EMPTY_SLOT

    class << self
      # Memory for one out parameter, of a pointer's size. Pass it as BYTES.
      def slot
        EMPTY_SLOT.dup
      end

      # The pointer or size that a call left in a slot.
      def value_of(slot)
        slot.unpack1('J')
      end

      # Yields a slot for the error of a call. Raises the error that is then in it; otherwise returns the block's result.
      def checked
        slot = self.slot
        result = yield slot
        error = value_of(slot)
        raise error_at(error) unless error.zero?

        result
      end

      # The exception for a message of the library. Frees the message.
      def error_at(address)
        Error.for(text_at(address))
      ensure
        FREE.call(address)
      end

      # A copy of a string that ends with NUL.
      def text_at(address)
        Fiddle::Pointer.new(address).to_s.force_encoding(Encoding::UTF_8).scrub
      end

      # A copy of +size_bytes+ bytes, in binary encoding.
      def bytes_at(address, size_bytes)
        size_bytes.zero? ? String.new : Fiddle::Pointer.new(address)[0, size_bytes]
      end

      # A key or a value that a program passed, as a string that does not change while a call without Ruby's lock reads it.
      # +what+ names it in the error.
      #
      # Raises TypeError for anything but a string. Symbols and numbers are rejected, too, because reads would return them as
      # strings.
      def bytes(object, what)
        string = String.try_convert(object)
        raise TypeError, "#{what} must be a String, not #{object.inspect} (#{object.class})" unless string

        string.frozen? ? string : string.dup.freeze
      end

      # The path of a database that a program passed: a String, a Pathname, or whatever else File takes.
      def path(object)
        path = File.path(object)
        raise ArgumentError, "a path must not contain a NUL byte: #{path.inspect}" if path.b.include?("\0")

        path.dup.freeze
      end

      # A string that C can read to its end.
      def c_string(text)
        "#{text}\0"
      end
    end
  end

  # The path of the C library in use, or the name that the system resolved.
  def self.library_path
    Native::LIBRARY.path
  end

  # Terrace's version, or nil if another library is in use.
  def self.terrace_version
    Native::TERRACE_VERSION && Native.text_at(Native::TERRACE_VERSION.call)
  end
end
