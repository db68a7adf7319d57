# frozen_string_literal: true

require 'fiddle'
require 'rbconfig'

# Finds the shared library.
#
# `require 'leveldb'` runs this; Native takes the functions from the library.
module LevelDB
  # No library was found, or a file found is not one. The message lists the places searched and what was wrong in each.
  class LibraryNotFoundError < LoadError; end

  # The shared library with LevelDB's C interface. Looked for in this order:
  #
  # 1. the file that the environment variable TERRACE_LIB names; if it is set, nothing else is tried
  # 2. the gem's own directory `vendor`
  # 3. the build's directory `target`, if the gem lies in Terrace's source tree: the newest of `release` and `debug`
  # 4. the system's path, by the names libterrace.so.0 and libterrace.so
  class Library
    EXTENSION = RbConfig::CONFIG['host_os'].include?('darwin') ? 'dylib' : 'so'
    FILE_NAME = "libterrace.#{EXTENSION}"
    SYSTEM_NAMES = EXTENSION == 'so' ? ["#{FILE_NAME}.0", FILE_NAME] : [FILE_NAME]
    GEM_DIRECTORY = File.expand_path('../..', __dir__)
    REQUIRED_FUNCTION = 'leveldb_open'
    private_constant :EXTENSION, :FILE_NAME, :SYSTEM_NAMES, :GEM_DIRECTORY, :REQUIRED_FUNCTION

    # The path of the library, or the name that the system resolved.
    attr_reader :path

    # Finds and opens the library. +environment+ is read like ENV; +gem_directory+ is where `vendor` lies.
    #
    # Raises LibraryNotFoundError.
    def self.find(environment: ENV, gem_directory: GEM_DIRECTORY)
      named = environment['TERRACE_LIB'].to_s
      candidates = named.empty? ? candidates_of(gem_directory) : { named => 'TERRACE_LIB' }
      failures = []
      candidates.each do |path, description|
        return new(path)
      rescue Fiddle::DLError => e
        failures << "  #{path} (#{description}): #{e.message}"
      end
      raise LibraryNotFoundError, advice(failures)
    end

    # The paths and names to try, each with its description in messages.
    def self.candidates_of(gem_directory)
      vendored = File.join(gem_directory, 'vendor', FILE_NAME)
      { vendored => "the gem's directory" }
        .merge(built(gem_directory).to_h { |path| [path, "the build's directory"] })
        .merge(SYSTEM_NAMES.to_h { |name| [name, "the system's path"] })
    end
    private_class_method :candidates_of

    def self.built(gem_directory)
      tree = File.dirname(gem_directory)
      return [] unless File.exist?(File.join(tree, 'crates', 'capi', 'Cargo.toml'))

      paths = %w[release debug].map { |profile| File.join(tree, 'target', profile, FILE_NAME) }
      paths.sort_by.with_index { |path, index| [File.exist?(path) ? -File.mtime(path).to_f : 0, index] }
    end
    private_class_method :built

    def self.advice(failures)
      <<~TEXT
        The C library for LevelDB databases was not found. Looked for:
        #{failures.join("\n")}
        What to do: set the environment variable TERRACE_LIB to the library's file; or build the library in Terrace's
        source tree with `cargo build --release --package terrace-capi`; or install it where the system finds libraries.
      TEXT
    end
    private_class_method :advice

    # Opens the library at +path+. Raises Fiddle::DLError.
    def initialize(path)
      @handle = Fiddle::Handle.new(path, Fiddle::RTLD_NOW)
      @path = path
      @handle[REQUIRED_FUNCTION]
    end

    # Returns the address of a function, or nil if the library does not have it.
    def address(name)
      @handle[name]
    rescue Fiddle::DLError
      nil
    end
  end
end
