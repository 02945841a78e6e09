// A store's files with any bytes in them: recovery refuses or gives a sound store that goes on. The
// input is a list of edits to good files, since random bytes would not get past the checksums; an
// input that begins with 'R' is a log record instead, framed correctly.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unistd.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "local/store/layout.hpp"
#include "local/store/store.hpp"
#include "local/store/store_snapshot.hpp"

namespace {

using namespace plim;
using namespace plim::local::store;

const WriteOptions kQuick{.sync = false};

struct GoodStore {
  testing::TempDir dir{testing::memory_directory()};
  std::string log_path = log_files(dir.path(), 2).path_of(2);
  std::string snap_path = snapshot_path(dir.path(), 3);
  std::string log;
  std::string snapshot;

  GoodStore() {
    log::configure({.level = log::Level::off});
    Loop loop;
    auto store = open(loop);
    PLIM_ASSERT(store);
    for (int i = 0; i < 3; ++i) write(loop, **store, i);
    PLIM_ASSERT(run_to_end(loop, (*store)->compact()));
    for (int i = 2; i < 5; ++i) write(loop, **store, i);
    store->reset();
    log = *read_file(log_path);
    snapshot = *read_file(snap_path);
  }

  Result<std::unique_ptr<Store>> open(Loop& loop) const {
    StoreOptions options{.directory = dir.path(), .durability = Durability::os};
    return Store::open(loop.executor(), system_clock(), options);
  }

  static void write(Loop& loop, Store& store, int i) {
    Txn txn;
    auto value = std::make_shared<std::string>(std::to_string(i));
    txn.ops.push_back(Op::put("/registry/core/pods/a/" + *value, value));
    PLIM_ASSERT(run_to_end(loop, store.txn(txn)));
  }
};

std::string edited(std::string bytes, std::string_view& edits) {
  for (int i = 0; i < 4 && edits.size() >= 3; ++i) {
    const auto at =
        static_cast<unsigned char>(edits[0]) * 256u + static_cast<unsigned char>(edits[1]);
    if (at % 2 == 0 && !bytes.empty())
      bytes[at / 2 % bytes.size()] = edits[2];
    else
      bytes.resize(at / 2 % (bytes.size() + 8));
    edits.remove_prefix(3);
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const GoodStore good;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string log = good.log;
  std::string snapshot = good.snapshot;
  if (input.starts_with('R')) {
    const RecordFile file = RecordFile::make(record_kind("STOR"), 1, 2);
    log = encode_header(file);
    encode_record(log, file, log.size(), log.size(), input.substr(1));
  } else {
    log = edited(log, input);
    snapshot = edited(snapshot, input);
  }
  PLIM_ASSERT(write_file(good.log_path, log, kQuick));
  PLIM_ASSERT(write_file(good.snap_path, snapshot, kQuick));
  Loop loop;
  auto store = good.open(loop);
  if (!store) return 0;
  const View view = (*store)->view();
  PLIM_ASSERT(view.tree().is_sound());
  PLIM_ASSERT(view.revision() >= 3);
  GoodStore::write(loop, **store, 9);
  PLIM_ASSERT((*store)->view().revision() == view.revision() + 1);
  return 0;
}
