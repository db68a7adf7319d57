// Command goleveldb drives the Go implementation of LevelDB. The commands are those of ../../README.md.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"hash"
	"io"
	"log"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

const absent = 0xffffffff

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// reader yields the numbers and byte strings of an operations or keys file.
type reader struct{ *bufio.Reader }

func open(path string) reader {
	file, err := os.Open(path)
	check(err)
	return reader{bufio.NewReaderSize(file, 1<<20)}
}

func (r reader) atEnd() bool {
	_, err := r.Peek(1)
	return err == io.EOF
}

func (r reader) number() uint32 {
	var bytes [4]byte
	_, err := io.ReadFull(r, bytes[:])
	check(err)
	return binary.LittleEndian.Uint32(bytes[:])
}

func (r reader) bytes() []byte {
	bytes := make([]byte, r.number())
	_, err := io.ReadFull(r, bytes)
	check(err)
	return bytes
}

func (r reader) write() *leveldb.Batch {
	batch := new(leveldb.Batch)
	for left := r.number(); left > 0; left-- {
		kind, err := r.ReadByte()
		check(err)
		if key := r.bytes(); kind == 1 {
			batch.Put(key, r.bytes())
		} else {
			batch.Delete(key)
		}
	}
	return batch
}

func apply(db *leveldb.DB, path string, first, last int, acknowledge bool) {
	operations := open(path)
	for index := 0; index != last && !operations.atEnd(); index++ {
		batch := operations.write()
		if index < first {
			continue
		}
		check(db.Write(batch, nil))
		if acknowledge {
			// os.Stdout has no buffer: the line is out before the next write begins.
			fmt.Println(index + 1)
		}
	}
}

type digest struct {
	hash.Hash
	count int
}

func newDigest() *digest { return &digest{Hash: sha256.New()} }

func (d *digest) number(value uint32) {
	var bytes [4]byte
	binary.LittleEndian.PutUint32(bytes[:], value)
	d.Write(bytes[:])
}

func (d *digest) bytes(bytes []byte) {
	d.number(uint32(len(bytes)))
	d.Write(bytes)
}

func (d *digest) String() string { return fmt.Sprintf("%d %x", d.count, d.Sum(nil)) }

func digestEntries(iter iterator.Iterator, start, step func() bool) *digest {
	d := newDigest()
	for ok := start(); ok; ok = step() {
		d.bytes(iter.Key())
		d.bytes(iter.Value())
		d.count++
	}
	check(iter.Error())
	iter.Release()
	return d
}

func digestPoints(db *leveldb.DB, path string) *digest {
	d := newDigest()
	for keys := open(path); !keys.atEnd(); d.count++ {
		key := keys.bytes()
		d.bytes(key)
		value, err := db.Get(key, nil)
		if err == leveldb.ErrNotFound {
			d.number(absent)
			continue
		}
		check(err)
		d.bytes(value)
	}
	return d
}

func main() {
	log.SetFlags(0)
	operations := flag.String("operations", "", "")
	keys := flag.String("keys", "", "")
	first := flag.Int("first", 0, "")
	last := flag.Int("last", -1, "")
	acknowledge := flag.Bool("acknowledge", false, "")
	paranoid := flag.Bool("paranoid", false, "")
	compression := flag.String("compression", "snappy", "")
	bloom := flag.Int("bloom", 10, "")
	writeBuffer := flag.Int("write-buffer", 4<<20, "")
	if len(os.Args) < 3 {
		log.Fatal("use: goleveldb apply|digest|hold DIRECTORY [OPTIONS]")
	}
	command, directory := os.Args[1], os.Args[2]
	check(flag.CommandLine.Parse(os.Args[3:]))

	options := &opt.Options{
		ErrorIfMissing: command == "digest",
		WriteBuffer:    *writeBuffer,
		Compression:    opt.SnappyCompression,
	}
	if *compression == "none" {
		options.Compression = opt.NoCompression
	}
	if *bloom > 0 {
		options.Filter = filter.NewBloomFilter(*bloom)
	}
	if *paranoid {
		// StrictJournal refuses a log that ends in an unfinished record, which is how a killed writer leaves it.
		options.Strict = opt.StrictAll &^ opt.StrictJournal
	}
	db, err := leveldb.OpenFile(directory, options)
	check(err)
	switch command {
	case "apply":
		apply(db, *operations, *first, *last, *acknowledge)
	case "digest":
		forward := db.NewIterator(nil, nil)
		fmt.Println("forward", digestEntries(forward, forward.First, forward.Next))
		backward := db.NewIterator(nil, nil)
		fmt.Println("backward", digestEntries(backward, backward.Last, backward.Prev))
		fmt.Println("points", digestPoints(db, *keys))
	case "hold":
		fmt.Println("held")
		_, err := io.Copy(io.Discard, os.Stdin)
		check(err)
	default:
		log.Fatalf("unknown command %s", command)
	}
	check(db.Close())
}
