// The Go client library of the service as a peer, with the line protocol of bench/macro/measure.hpp.
// Bodies are read into buffers that the caller keeps. It has no call that sends one part of a
// multipart upload, so there is no put32m.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"cloud.google.com/go/storage"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
)

const (
	small     = "small/n01440764/n01440764_10026.JPEG"
	large     = "large/checkpoint/step-00001000/model.bin"
	smallSize = 16 << 10
	blockSize = 8 << 20
	largeSize = 1 << 30
	pages     = 100
)

type client struct {
	bucket      *storage.BucketHandle
	name        string
	concurrency int
	requests    atomic.Int64
	bytes       atomic.Int64
	items       atomic.Int64
}

func newClient(endpoint, ca, name string, concurrency int) (*client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = concurrency
	transport.ForceAttemptHTTP2 = false
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	made, err := storage.NewClient(context.Background(),
		option.WithEndpoint(endpoint+"/storage/v1/"), option.WithoutAuthentication(),
		option.WithHTTPClient(&http.Client{Transport: transport}), storage.WithJSONReads())
	if err != nil {
		return nil, err
	}
	return &client{bucket: made.Bucket("bench"), name: name, concurrency: concurrency}, nil
}

func (c *client) read(object string, offset, length int64, into []byte) error {
	reader, err := c.bucket.Object(object).NewRangeReader(context.Background(), offset, length)
	if err != nil {
		return err
	}
	defer reader.Close()
	size, err := io.ReadFull(reader, into)
	if err != nil {
		return err
	}
	if rest, err := reader.Read(make([]byte, 1)); rest != 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("a body does not end where it should: %w", err)
	}
	c.requests.Add(1)
	c.bytes.Add(int64(size))
	return nil
}

func (c *client) list() error {
	query := &storage.Query{}
	if err := query.SetAttrSelection([]string{"Name", "Size", "Generation", "CRC32C"}); err != nil {
		return err
	}
	objects := c.bucket.Objects(context.Background(), query)
	objects.PageInfo().MaxSize = 1000
	for {
		if _, err := objects.Next(); errors.Is(err, iterator.Done) {
			c.requests.Add(pages)
			return nil
		} else if err != nil {
			return err
		}
		c.items.Add(1)
	}
}

func (c *client) one(index int64, buffer []byte) error {
	switch c.name {
	case "get16k":
		return c.read(small, 0, -1, buffer[:smallSize])
	case "range8m":
		return c.read(large, index%(largeSize/blockSize)*blockSize, blockSize, buffer)
	case "listpage":
		return c.list()
	}
	return fmt.Errorf("unknown case %s", c.name)
}

// run makes count requests; a listing is as many as it has pages.
func (c *client) run(count int64) {
	if c.name == "listpage" {
		count = (count + pages - 1) / pages
	}
	var next atomic.Int64
	var lanes sync.WaitGroup
	for range c.concurrency {
		lanes.Go(func() {
			buffer := make([]byte, blockSize)
			for i := next.Add(1) - 1; i < count; i = next.Add(1) - 1 {
				if err := c.one(i, buffer); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	lanes.Wait()
}

func usage() (cpu float64, rss int64) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds(), usage.Maxrss * 1024
}

func main() {
	endpoint := flag.String("endpoint", "", "")
	ca := flag.String("ca", "", "")
	name := flag.String("case", "", "")
	count := flag.Int64("count", 1000, "")
	concurrency := flag.Int("concurrency", 32, "")
	flag.Parse()
	c, err := newClient(*endpoint, *ca, *name, *concurrency)
	if err != nil {
		log.Fatal(err)
	}
	c.run(int64(4 * *concurrency))
	c.requests.Store(0)
	c.bytes.Store(0)
	c.items.Store(0)
	before, _ := usage()
	start := time.Now()
	c.run(*count)
	wall := time.Since(start).Seconds()
	after, rss := usage()
	fmt.Printf("{\"requests\": %d, \"bytes\": %d, \"items\": %d, \"wall_s\": %.6f, \"cpu_s\": %.6f, "+
		"\"allocations\": -1, \"max_rss\": %d}\n",
		c.requests.Load(), c.bytes.Load(), c.items.Load(), wall, after-before, rss)
}
