// Judges notes, inclusion and consistency with the implementations of others: golang.org/x/mod/sumdb/note and
// github.com/transparency-dev/merkle. Reads a JSON object for each question, and writes a text for each answer: what is
// wrong, or nothing.
package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
)

// A question about a note, whose keys must all have signed it; about the inclusion of Leaf at Index in a tree of Size; or
// about the consistency of a tree of From leaves with it. Bytes are in base64.
type question struct {
	Note         []byte
	VerifierKeys []string

	Leaf  []byte
	Index uint64
	Size  uint64
	Root  []byte

	From     uint64
	FromRoot []byte

	Hashes [][]byte
}

func (q question) answer() error {
	switch {
	case q.VerifierKeys != nil:
		return openNote(q.Note, q.VerifierKeys)
	case q.Leaf != nil:
		leaf := rfc6962.DefaultHasher.HashLeaf(q.Leaf)
		return proof.VerifyInclusion(rfc6962.DefaultHasher, q.Index, q.Size, leaf, q.Hashes, q.Root)
	default:
		return proof.VerifyConsistency(rfc6962.DefaultHasher, q.From, q.Size, q.Hashes, q.FromRoot, q.Root)
	}
}

func openNote(message []byte, keys []string) error {
	var verifiers []note.Verifier
	for _, key := range keys {
		verifier, err := newVerifier(key)
		if err != nil {
			return fmt.Errorf("verifier key %q: %w", key, err)
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open(message, note.VerifierList(verifiers...))
	if err != nil {
		return err
	}
	if len(opened.Sigs) != len(keys) {
		return fmt.Errorf("%d of %d keys signed", len(opened.Sigs), len(keys))
	}
	return nil
}

// newVerifier is note.NewVerifier, and knows the keys of witnesses (C2SP tlog-cosignature) besides.
func newVerifier(key string) (note.Verifier, error) {
	parts := strings.SplitN(key, "+", 3)
	if len(parts) < 3 {
		return note.NewVerifier(key)
	}
	bytes, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(bytes) != 33 || bytes[0] != 0x04 {
		return note.NewVerifier(key)
	}
	var keyHash uint32
	if _, err := fmt.Sscanf(parts[1], "%08x", &keyHash); err != nil {
		return nil, err
	}
	return &witness{name: parts[0], keyHash: keyHash, publicKey: bytes[1:]}, nil
}

type witness struct {
	name      string
	keyHash   uint32
	publicKey ed25519.PublicKey
}

func (w *witness) Name() string    { return w.name }
func (w *witness) KeyHash() uint32 { return w.keyHash }

func (w *witness) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	time := binary.BigEndian.Uint64(signature)
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s", time, text)
	return ed25519.Verify(w.publicKey, []byte(message), signature[8:])
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	questions := json.NewDecoder(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for questions.More() {
		var q question
		if err := questions.Decode(&q); err != nil {
			return err
		}
		fault := ""
		if err := q.answer(); err != nil {
			fault = err.Error()
		}
		if err := answers.Encode(fault); err != nil {
			return err
		}
	}
	return nil
}
