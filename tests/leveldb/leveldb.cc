// LevelDB itself, for tests/leveldb.rs and benches/leveldb: answers requests on standard input
// with LevelDB's own library, until the input ends.
//
// A request is its length, a byte for its kind, and its arguments; an answer is its length and its
// bytes. Numbers are little-endian: lengths and counts are u64, all others u32. A string is its
// length and its bytes; a list of strings is its count, the length of each as u32, and the bytes of
// all, back to back.

#ifdef __linux__
#include <sched.h>
#include <unistd.h>
#endif

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <leveldb/slice.h>
#include <leveldb/status.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifdef INTERNAL_CLASSES
// What LevelDB 1.23 does not install, and only its static library has.
namespace leveldb {

class InternalFilterPolicy : public FilterPolicy {  // db/dbformat.h
 public:
  explicit InternalFilterPolicy(const FilterPolicy* policy) : user_policy_(policy) {}
  const char* Name() const override;
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override;
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override;

 private:
  const FilterPolicy* const user_policy_;
};

class FilterBlockBuilder {  // table/filter_block.h
 public:
  explicit FilterBlockBuilder(const FilterPolicy*);
  void StartBlock(uint64_t block_offset);
  void AddKey(const Slice& key);
  Slice Finish();

 private:
  const FilterPolicy* policy_;
  std::string keys_;
  std::vector<size_t> start_;
  std::string result_;
  std::vector<Slice> tmp_keys_;
  std::vector<uint32_t> filter_offsets_;
};

class FilterBlockReader {  // table/filter_block.h
 public:
  FilterBlockReader(const FilterPolicy* policy, const Slice& contents);
  bool KeyMayMatch(uint64_t block_offset, const Slice& key);

 private:
  const FilterPolicy* policy_;
  const char* data_;
  const char* offset_;
  size_t num_;
  size_t base_lg_;
};

}  // namespace leveldb
#endif

namespace {

using leveldb::FilterPolicy;
using leveldb::Slice;
using Clock = std::chrono::steady_clock;

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "leveldb.cc: %s\n", why.c_str());
  std::exit(1);
}

void Check(const leveldb::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

uint64_t Decode(const char* bytes, size_t length) {
  uint64_t value = 0;
  for (size_t i = 0; i < length; i++) {
    value |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return value;
}

std::string Encode(uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; i++) {
    bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
  return bytes;
}

bool Read(std::string* bytes) {
  return std::fread(&(*bytes)[0], 1, bytes->size(), stdin) == bytes->size();
}

// The next request; false if the input ends before.
bool ReadRequest(std::string* request) {
  std::string length(8, '\0');
  if (!Read(&length)) return false;
  request->resize(Decode(length.data(), 8));
  if (!Read(request)) Fail("the input ends within a request");
  return true;
}

void Write(const std::string& bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() ||
      std::fflush(stdout) != 0) {
    Fail("the standard output is closed");
  }
}

// A policy of LevelDB's name whose filters the other process makes. It is asked for one by a length
// that no answer has, a count of keys, and each with its length, and sends it as a request.
class AskingPolicy : public FilterPolicy {
 public:
  const char* Name() const override { return "leveldb.BuiltinBloomFilter2"; }

  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    std::string question = Encode(UINT64_MAX) + Encode(n);
    for (int i = 0; i < n; i++) question += Encode(keys[i].size()) + keys[i].ToString();
    Write(question);
    std::string filter;
    if (!ReadRequest(&filter)) Fail("the input ends before a filter");
    dst->append(filter);
  }

  bool KeyMayMatch(const Slice&, const Slice&) const override { return true; }
};

// Parses a request; what it returns points into the request.
class Parser {
 public:
  explicit Parser(const std::string& request) : rest_(request) {}

  char Byte() { return Bytes(1)[0]; }
  uint32_t U32() { return static_cast<uint32_t>(Decode(Bytes(4), 4)); }
  uint64_t U64() { return Decode(Bytes(8), 8); }

  Slice String() {
    const size_t length = U64();
    return Slice(Bytes(length), length);
  }

  std::vector<Slice> Strings() {
    const size_t count = U64();
    const char* lengths = Bytes(4 * count);
    std::vector<Slice> strings;
    strings.reserve(count);
    for (size_t i = 0; i < count; i++) {
      const size_t length = Decode(lengths + 4 * i, 4);
      strings.emplace_back(Bytes(length), length);
    }
    return strings;
  }

 private:
  const char* Bytes(size_t length) {
    if (length > rest_.size()) Fail("a request ends early");
    const char* bytes = rest_.data();
    rest_.remove_prefix(length);
    return bytes;
  }

  Slice rest_;
};

using Policy = std::unique_ptr<const FilterPolicy>;

Policy NewPolicy(uint32_t bits_per_key) {
  return Policy(leveldb::NewBloomFilterPolicy(static_cast<int>(bits_per_key)));
}

std::string CreateFilter(Parser request) {
  const Policy policy = NewPolicy(request.U32());
  const std::vector<Slice> keys = request.Strings();
  std::string filter;
  policy->CreateFilter(keys.data(), static_cast<int>(keys.size()), &filter);
  return filter;
}

// A byte for each key, 0 or 1. The policy's bits per key do not matter.
std::string KeysMayMatch(Parser request) {
  const Policy policy = NewPolicy(10);
  const Slice filter = request.String();
  std::string matches;
  for (const Slice& key : request.Strings()) {
    matches.push_back(policy->KeyMayMatch(key, filter) ? 1 : 0);
  }
  return matches;
}

// Options, and the policy that they point to; for the highest bits per key, that of the other
// process.
struct TableOptions {
  explicit TableOptions(Parser& request) {
    const uint32_t bits_per_key = request.U32();
    const bool asks = bits_per_key == UINT32_MAX;
    policy = asks ? Policy(new AskingPolicy) : NewPolicy(bits_per_key);
    options.filter_policy = policy.get();
    options.block_size = request.U32();
    options.block_restart_interval = static_cast<int>(request.U32());
    options.compression =
        request.U32() != 0 ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  }

  Policy policy;
  leveldb::Options options;
};

// Closing interrupts a compaction and leaves its unfinished table behind. Compactions run as long
// as level 0 has four tables; other levels fill only with tables that are moved unchanged.
void WaitForCompactions(leveldb::DB* db) {
  std::string num_tables;
  while (db->GetProperty("leveldb.num-files-at-level0", &num_tables) &&
         std::stoi(num_tables) >= 4) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Puts each key in turn, or deletes it if the value is empty. All end up in tables; if the request
// says so, in tables of one level, which have no key in common. The request sets the sizes of
// tables from write buffers and from compactions.
std::string WriteDatabase(Parser request) {
  const std::string path = request.String().ToString();
  const bool compact = request.U32() != 0;
  const size_t write_buffer_size = request.U32();
  const size_t max_file_size = request.U32();
  TableOptions table(request);
  const std::vector<Slice> keys = request.Strings();
  const std::vector<Slice> values = request.Strings();

  table.options.write_buffer_size = write_buffer_size;
  table.options.max_file_size = max_file_size;
  table.options.create_if_missing = true;
  leveldb::DB* opened;
  Check(leveldb::DB::Open(table.options, path, &opened));
  std::unique_ptr<leveldb::DB> db(opened);
  for (size_t i = 0; i < keys.size(); i++) {
    const leveldb::WriteOptions write;
    Check(values[i].empty() ? db->Delete(write, keys[i]) : db->Put(write, keys[i], values[i]));
  }
  // When a database is reopened, it writes what is only in its log to a table.
  db.reset();
  Check(leveldb::DB::Open(table.options, path, &opened));
  db.reset(opened);
  WaitForCompactions(db.get());
  if (compact) db->CompactRange(nullptr, nullptr);
  return std::string();
}

// Counts how often tables are read. Lookups start compactions, which read tables and replace them,
// sooner or later, depending on how busy the machine is. So compactions wait until `LetGo`.
class CountingEnv : public leveldb::EnvWrapper {
 public:
  CountingEnv() : EnvWrapper(leveldb::Env::Default()), num_reads_(0) {}

  uint64_t num_reads() const { return num_reads_; }

  void Schedule(void (*function)(void*), void* argument) override {
    if (waits_) {
      waiting_.emplace_back(function, argument);
    } else {
      target()->Schedule(function, argument);
    }
  }

  // Closing waits for the compaction that was started, and its end may start another.
  void LetGo() {
    waits_ = false;
    for (const auto& [function, argument] : waiting_) target()->Schedule(function, argument);
  }

  leveldb::Status NewRandomAccessFile(const std::string& path,
                                      leveldb::RandomAccessFile** file) override {
    leveldb::RandomAccessFile* opened;
    const leveldb::Status status = target()->NewRandomAccessFile(path, &opened);
    if (status.ok()) *file = new CountingFile(opened, &num_reads_);
    return status;
  }

 private:
  class CountingFile : public leveldb::RandomAccessFile {
   public:
    CountingFile(leveldb::RandomAccessFile* file, std::atomic<uint64_t>* num_reads)
        : file_(file), num_reads_(num_reads) {}

    leveldb::Status Read(uint64_t offset, size_t length, Slice* result,
                         char* scratch) const override {
      ++*num_reads_;
      return file_->Read(offset, length, result, scratch);
    }

   private:
    const std::unique_ptr<leveldb::RandomAccessFile> file_;
    std::atomic<uint64_t>* const num_reads_;
  };

  std::atomic<uint64_t> num_reads_;
  bool waits_ = true;
  std::vector<std::pair<void (*)(void*), void*>> waiting_;
};

// A byte for each key, 1 if it has its value; a byte for each of the others, 1 if it is found; then
// how many blocks were read for the others.
std::string ReadDatabase(Parser request) {
  const std::string path = request.String().ToString();
  TableOptions table(request);
  const std::vector<Slice> keys = request.Strings();
  const std::vector<Slice> values = request.Strings();
  const std::vector<Slice> others = request.Strings();

  CountingEnv env;
  const std::unique_ptr<leveldb::Cache> no_cache(leveldb::NewLRUCache(0));
  table.options.env = &env;
  table.options.block_cache = no_cache.get();
  table.options.paranoid_checks = true;
  leveldb::DB* opened;
  Check(leveldb::DB::Open(table.options, path, &opened));
  const std::unique_ptr<leveldb::DB> db(opened);
  const auto find = [&](const Slice& key, std::string* value) {
    const leveldb::Status status = db->Get(leveldb::ReadOptions(), key, value);
    if (!status.IsNotFound()) Check(status);
    return status.ok();
  };
  std::string answer, value;
  for (size_t i = 0; i < keys.size(); i++) {
    answer.push_back(find(keys[i], &value) && Slice(value) == values[i] ? 1 : 0);
  }
  // By now, all tables are open.
  const uint64_t num_reads = env.num_reads();
  for (const Slice& key : others) {
    answer.push_back(find(key, &value) ? 1 : 0);
  }
  answer += Encode(env.num_reads() - num_reads);
  env.LetGo();
  return answer;
}

// The state of the race: key sets, the policy, the last filter, and databases.
class Race {
 public:
  Race() : policy_(NewPolicy(10)), any_policy_(NewPolicy(10)) {}

  // Binds this process and its parent to one core, on Linux: two cores may differ in their other
  // work.
  std::string ShareCore() {
#ifdef __linux__
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(sched_getcpu(), &core);
    for (const pid_t process : {getpid(), getppid()}) {
      if (sched_setaffinity(process, sizeof(core), &core) != 0) Fail("cannot choose a core");
    }
#endif
    return std::string();
  }

  std::string SetPolicy(Parser request) {
    policy_ = NewPolicy(request.U32());
    return std::string();
  }

  // The keys point into the request, which is kept.
  std::string SetKeys(std::string&& request) {
    Parser index(request);
    index.Byte();
    KeySet& set = Set(index.U32());
    set.request = std::move(request);
    Parser parser(set.request);
    parser.Byte();
    parser.U32();
    set.keys = parser.Strings();
    return std::string();
  }

  // Returns the nanoseconds for all repetitions; keeps the filter.
  std::string TimeCreateFilter(Parser request) {
    const std::vector<Slice>& keys = Set(request.U32()).keys;
    const uint64_t repetitions = request.U64();
    const Clock::time_point start = Clock::now();
    for (uint64_t i = 0; i < repetitions; i++) {
      filter_.clear();
      policy_->CreateFilter(keys.data(), static_cast<int>(keys.size()), &filter_);
    }
    return Encode(NanosecondsSince(start));
  }

  std::string Filter() const { return filter_; }

#ifdef INTERNAL_CLASSES
  // The filter block of internal keys in data blocks of this many keys and bytes. Returns the
  // nanoseconds for all repetitions; keeps the block in place of the filter.
  std::string TimeBuildBlock(Parser request) {
    const std::vector<Slice>& keys = Set(request.U32()).keys;
    const size_t keys_per_block = request.U32();
    const uint64_t block_length = request.U64();
    const uint64_t repetitions = request.U64();
    const leveldb::InternalFilterPolicy policy(policy_.get());
    const Clock::time_point start = Clock::now();
    for (uint64_t i = 0; i < repetitions; i++) {
      leveldb::FilterBlockBuilder builder(&policy);
      uint64_t offset = 0;
      for (size_t first = 0; first < keys.size(); first += keys_per_block) {
        builder.StartBlock(offset);
        const size_t end = std::min(first + keys_per_block, keys.size());
        for (size_t k = first; k < end; k++) builder.AddKey(keys[k]);
        offset += block_length;
      }
      const Slice block = builder.Finish();
      filter_.assign(block.data(), block.size());
    }
    return Encode(NanosecondsSince(start));
  }

  std::string SetFilter(Parser request) {
    filter_ = request.String().ToString();
    return std::string();
  }

  // Internal keys whose trailers are the offsets of their data blocks. Returns nanoseconds, and the
  // number of keys that may match.
  std::string TimeReadBlock(Parser request) {
    const std::vector<Slice>& keys = Set(request.U32()).keys;
    const leveldb::InternalFilterPolicy policy(policy_.get());
    leveldb::FilterBlockReader reader(&policy, filter_);
    uint64_t matches = 0;
    const Clock::time_point start = Clock::now();
    for (const Slice& key : keys) {
      const uint64_t offset = Decode(key.data() + key.size() - 8, 8);
      matches += reader.KeyMayMatch(offset, key) ? 1 : 0;
    }
    const uint64_t nanoseconds = NanosecondsSince(start);
    return Encode(nanoseconds) + Encode(matches);
  }
#endif

  // Returns nanoseconds, and the number of keys that may match.
  std::string TimeKeysMayMatch(Parser request) {
    const std::vector<Slice>& keys = Set(request.U32()).keys;
    const Slice filter(filter_);
    uint64_t matches = 0;
    const Clock::time_point start = Clock::now();
    for (const Slice& key : keys) {
      matches += policy_->KeyMayMatch(key, filter) ? 1 : 0;
    }
    const uint64_t nanoseconds = NanosecondsSince(start);
    return Encode(nanoseconds) + Encode(matches);
  }

  // Keeps the database open, with LevelDB's default cache of 8 MiB.
  std::string OpenDatabase(Parser request) {
    std::unique_ptr<leveldb::DB>& db = Database(request.U32());
    leveldb::Options options;
    options.filter_policy = any_policy_.get();
    leveldb::DB* opened;
    Check(leveldb::DB::Open(options, request.String().ToString(), &opened));
    db.reset(opened);
    return std::string();
  }

  // Returns nanoseconds, and the number of keys found.
  std::string TimeGet(Parser request) {
    leveldb::DB* const db = Database(request.U32()).get();
    const std::vector<Slice>& keys = Set(request.U32()).keys;
    std::string value;
    uint64_t found = 0;
    const Clock::time_point start = Clock::now();
    for (const Slice& key : keys) {
      found += db->Get(leveldb::ReadOptions(), key, &value).ok() ? 1 : 0;
    }
    const uint64_t nanoseconds = NanosecondsSince(start);
    return Encode(nanoseconds) + Encode(found);
  }

 private:
  struct KeySet {
    std::string request;
    std::vector<Slice> keys;
  };

  static uint64_t NanosecondsSince(Clock::time_point start) {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
  }

  KeySet& Set(uint32_t index) {
    if (index >= sets_.size()) Fail("no such key set");
    return sets_[index];
  }

  std::unique_ptr<leveldb::DB>& Database(uint32_t index) {
    if (index >= databases_.size()) Fail("no such database");
    return databases_[index];
  }

  Policy policy_;
  std::array<KeySet, 4> sets_;
  std::string filter_;
  // Reads filters of any bits per key. Declared before the databases, which must be closed first.
  const Policy any_policy_;
  std::array<std::unique_ptr<leveldb::DB>, 3> databases_;
};

std::string Answer(std::string&& request, Race* race) {
  Parser parser(request);
  switch (parser.Byte()) {
    case 'v':
      return std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion);
    case 'c':
      return CreateFilter(parser);
    case 'm':
      return KeysMayMatch(parser);
    case 'd':
      return WriteDatabase(parser);
    case 'r':
      return ReadDatabase(parser);
    case 'S':
      return race->ShareCore();
    case 'P':
      return race->SetPolicy(parser);
    case 'K':
      return race->SetKeys(std::move(request));
    case 'C':
      return race->TimeCreateFilter(parser);
    case 'F':
      return race->Filter();
    case 'M':
      return race->TimeKeysMayMatch(parser);
#ifdef INTERNAL_CLASSES
    case 'B':
      return race->TimeBuildBlock(parser);
    case 'L':
      return race->SetFilter(parser);
    case 'R':
      return race->TimeReadBlock(parser);
#endif
    case 'O':
      return race->OpenDatabase(parser);
    case 'G':
      return race->TimeGet(parser);
    default:
      Fail("an unknown request");
  }
}

}  // namespace

int main() {
  Race race;
  std::string request;
  while (ReadRequest(&request)) {
    const std::string answer = Answer(std::move(request), &race);
    Write(Encode(answer.size()) + answer);
  }
}
