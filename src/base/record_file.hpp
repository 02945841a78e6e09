// The file format of journals and snapshots: a header, then records with checksums.
//
//   header  "PLIMREC\n", format, kind, version of the content, number, salt, CRC-32C
//   record  length, CRC-32C of the payload, durable, CRC-32C of these three; the payload
//
// Every checksum starts from the random salt of the file and the offset of the record, so neither
// bytes of another file nor a value that looks like a record is accepted as one. `durable` is the
// offset up to which the file was acknowledged when the record was written. It lets a reader
// distinguish a write that a crash cut short from damage to acknowledged data: see Ending.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace plim {

constexpr std::size_t kRecordFileHeader = 40;
constexpr std::size_t kRecordHeader = 20;
constexpr std::size_t kMaxRecord = std::size_t{64} << 20;

struct RecordFile {
  std::uint32_t kind = 0;     // the type of the records: record_kind("STOR")
  std::uint32_t version = 0;  // of their content
  std::uint64_t number = 0;   // of a segment, revision of a snapshot
  std::uint64_t salt = 0;

  static RecordFile make(std::uint32_t kind, std::uint32_t version, std::uint64_t number);
};

constexpr std::uint32_t record_kind(const char (&name)[5]) {
  std::uint32_t out = 0;
  for (int i = 3; i >= 0; --i) out = out << 8 | static_cast<unsigned char>(name[i]);
  return out;
}

std::string encode_header(const RecordFile& file);
// Appends the record to `out`; its first byte will be at `offset` of the file.
void encode_record(std::string& out, const RecordFile& file, std::uint64_t offset,
                   std::uint64_t durable, std::string_view payload);

// What a reader expects of a file.
struct RecordExpectation {
  std::uint32_t kind = 0;
  std::uint32_t version = 0;  // the newest that it can read
  std::optional<std::uint64_t> number = {};
};

enum class Ending {
  clean,
  torn,     // the rest was not acknowledged: a crash cut its write short
  damaged,  // what follows was acknowledged, or the header is bad
};

struct RecordScan {
  RecordFile file;
  std::uint64_t records = 0;
  std::uint64_t end = 0;  // end of the last good record, where the trouble begins if there is any
  Ending ending = Ending::clean;
  std::string trouble;  // what is wrong there
};

using RecordVisitor = std::function<Result<void>(std::uint64_t offset, std::string_view payload)>;

// Reads the records of a whole file in memory. Fails with errors of the visitor, and for files of
// another kind or a newer version; `ending` reports all other problems.
Result<RecordScan> scan_records(std::string_view bytes, const RecordExpectation& expected,
                                const RecordVisitor& visit);

}  // namespace plim
