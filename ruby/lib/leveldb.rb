# frozen_string_literal: true

# LevelDB databases in Ruby, over Terrace's C library or any other with LevelDB's C interface.
#
#   a program -> DB, Snapshot, Iterator, WriteBatch -> Handle (calls at once, closing) -> Native (C functions) -> Library
module LevelDB
end

require_relative 'leveldb/version'
require_relative 'leveldb/errors'
require_relative 'leveldb/library'
require_relative 'leveldb/native'
require_relative 'leveldb/handle'
require_relative 'leveldb/options'
require_relative 'leveldb/call_options'
require_relative 'leveldb/reading'
require_relative 'leveldb/iterator'
require_relative 'leveldb/snapshot'
require_relative 'leveldb/write_batch'
require_relative 'leveldb/db'
