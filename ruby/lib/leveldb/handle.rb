# frozen_string_literal: true

# Who may use an object of the C library, and when it is released.
#
# DB, Iterator and Snapshot use this; it uses Native.
module LevelDB
  # Internal to the gem. An object of the C library: a database, or an iterator or a snapshot, which are children of a database.
  #
  # - Any number of threads may be within `use` at once. `close` waits for them, and refuses those that come later.
  # - A database closes its children first, as LevelDB's library requires. Everything is closed only once, however many threads
  #   ask for it.
  # - The owner (what the program holds) refers to the handle, never the other way round, so that the garbage collector can tell
  #   when the owner is gone. Its finalizer closes the handle.
  # - A forked process has none of the library's threads. There a handle refuses everything; its memory goes with the process.
  class Handle
    # An exception from another thread (Timeout, Thread#kill) between a call and the storing of its result would leak memory. It
    # waits until the call has ended, which it has to do for the call itself anyway.
    NOT_NOW = { Object => :never }.freeze
    private_constant :NOT_NOW

    # Yields to make a handle, which is released when its owner is gone. Nothing can come between.
    def self.own(owner)
      Thread.handle_interrupt(NOT_NOW) do
        handle = yield
        ObjectSpace.define_finalizer(owner, handle.finalizer)
        handle
      end
    end

    # +pointer+ is the object's address, +what+ its name in messages. The block releases the object.
    #
    # The block must not refer to the owner.
    def initialize(pointer, what, parent: nil, &give_back)
      @pointer = pointer
      @what = what
      @parent = parent
      @give_back = give_back
      @pid = Process.pid
      @lock = Mutex.new
      @idle = ConditionVariable.new
      # The threads within `use`, and how often each is.
      @users = {}.compare_by_identity
      @children = {}.compare_by_identity
      @closing = false
    end

    # Makes a handle that is closed together with this one, from what the block returns for this one's pointer. +give_back+ gets
    # the child's pointer.
    def make_child(what, give_back, &make)
      use do |pointer|
        child = Handle.new(make.call(pointer), what, parent: self, &give_back)
        @children[child] = true
        child
      end
    end

    # Yields the pointer, which stays valid until the block ends. The block may call the library, but no code of the program.
    #
    # Raises ClosedError if the handle is closed.
    def use
      Thread.handle_interrupt(NOT_NOW) do
        enter
        begin
          yield @pointer
        ensure
          leave
        end
      end
    end

    # Whether the handle was closed, or belongs to the process that this one was forked from.
    def closed?
      gone? || foreign?
    end

    # Raises ClosedError if the handle was closed.
    def check
      raise ClosedError, "the #{@what} is closed" if gone?
    end

    # Releases the object after the calls of other threads have returned. A second call does nothing.
    #
    # The lock is not held while this waits for others and closes the children: a thread within `use` of a snapshot may be about
    # to use the database.
    def close
      return @pointer = nil if foreign?

      Thread.handle_interrupt(NOT_NOW) do
        next unless @lock.synchronize { begin_closing }

        begin
          give_back(:close)
        ensure
          @lock.synchronize { end_closing }
        end
      end
    end

    # The same if the owner is gone, so that no thread can be within `use`. Finalizers may not wait for a lock. If the lock is
    # taken, the handle is already being closed, together with its database.
    def close_ownerless
      return @pointer = nil if foreign?
      return unless @lock.try_lock

      begin
        Thread.handle_interrupt(NOT_NOW) { give_back(:close_ownerless) } unless gone?
      ensure
        @lock.unlock
      end
    end

    # What ObjectSpace.define_finalizer takes for the owner.
    def finalizer
      proc do
        close_ownerless
      rescue Error
        # The error has no caller to go to.
      end
    end

    # Forgets a closed child.
    def forget(child)
      @children.delete(child)
    end

    private

    def gone?
      @pointer.nil? || @closing
    end

    def foreign?
      @pid != Process.pid
    end

    def enter
      # This comes before the lock, which a thread that does not exist in the fork may hold.
      raise ClosedError, "the #{@what} belongs to the process that this one was forked from" if foreign?

      @lock.synchronize do
        check
        @users[Thread.current] = @users.fetch(Thread.current, 0) + 1
      end
    end

    def leave
      @lock.synchronize do
        thread = Thread.current
        if @users[thread] == 1
          @users.delete(thread)
        else
          @users[thread] -= 1
        end
        @idle.broadcast if @closing
      end
    end

    # Called with the lock. Waits until no other thread is within `use`. Returns false if there is nothing left to close.
    def begin_closing
      @idle.wait(@lock) while @closing
      return false if @pointer.nil?

      @closing = true
      begin
        # If this thread itself is within `use`, a signal has interrupted its call.
        @idle.wait(@lock) while @users.each_key.any? { |thread| thread != Thread.current }
        waited = true
      ensure
        end_closing unless waited
      end
    end

    # Called with the lock.
    def end_closing
      @closing = false
      @idle.broadcast
    end

    # Closes the children by the given method.
    def give_back(close_children)
      # The list is a copy, because finalizers of other children may run meanwhile.
      @children.keys.each(&close_children)
      pointer = @pointer
      @pointer = nil
      @give_back.call(pointer)
    ensure
      # This comes last: a parent that is closing waits for the children that it knows.
      @parent&.forget(self)
    end
  end
end
