#include "base/record_file.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/crc32c.hpp"
#include "base/random.hpp"
#include "base/wire.hpp"

namespace plim {
namespace {

constexpr std::string_view kMagic = "PLIMREC\n";
constexpr std::uint32_t kFormat = 1;

std::uint32_t seed(const RecordFile& file, std::uint64_t offset) {
  std::array<std::uint64_t, 2> place{file.salt, offset};
  return crc32c({reinterpret_cast<const char*>(place.data()), sizeof place});
}

struct RecordHead {
  std::uint32_t length = 0;
  std::uint32_t payload_sum = 0;
  std::uint64_t durable = 0;
};

// Nothing if no record begins here.
std::optional<RecordHead> read_head(std::string_view bytes, const RecordFile& file,
                                    std::uint64_t offset) {
  if (bytes.size() - offset < kRecordHeader) return {};
  const std::string_view head = bytes.substr(offset, kRecordHeader);
  WireReader in(head);
  RecordHead out;
  out.length = in.number<std::uint32_t>();
  out.payload_sum = in.number<std::uint32_t>();
  out.durable = in.number<std::uint64_t>();
  // The cheap checks first: the search for records after damage tries every offset.
  if (out.length > kMaxRecord || out.durable > offset || out.durable < kRecordFileHeader) return {};
  const std::uint32_t sum = crc32c(head.substr(0, kRecordHeader - 4), seed(file, offset));
  if (in.number<std::uint32_t>() != sum) return {};
  return out;
}

bool payload_is_good(std::string_view bytes, const RecordFile& file, std::uint64_t offset,
                     const RecordHead& head) {
  const std::string_view payload = bytes.substr(offset + kRecordHeader, head.length);
  return crc32c(payload, seed(file, offset)) == head.payload_sum;
}

// Whether a later record was written after the bytes at `trouble` were acknowledged. Records of one
// write become durable in any order, so later ones of the same write prove nothing.
bool was_acknowledged(std::string_view bytes, const RecordFile& file, std::uint64_t trouble) {
  for (std::uint64_t offset = trouble + 1; offset + kRecordHeader <= bytes.size(); ++offset) {
    const auto head = read_head(bytes, file, offset);
    if (!head || head->durable <= trouble) continue;
    const bool cut = bytes.size() - offset - kRecordHeader < head->length;
    if (cut || payload_is_good(bytes, file, offset, *head)) return true;
  }
  return false;
}

// Sets scan.file. False if the header is torn or damaged, as the scan reports.
Result<bool> read_header(std::string_view bytes, const RecordExpectation& expected,
                         RecordScan& scan) {
  const std::string_view head = bytes.substr(0, kRecordFileHeader);
  WireReader in(head.substr(std::min(head.size(), kMagic.size())));
  const auto format = in.number<std::uint32_t>();
  scan.file.kind = in.number<std::uint32_t>();
  scan.file.version = in.number<std::uint32_t>();
  scan.file.number = in.number<std::uint64_t>();
  scan.file.salt = in.number<std::uint64_t>();
  const auto sum = in.number<std::uint32_t>();
  if (!in.ok() || !head.starts_with(kMagic) || crc32c(head.substr(0, head.size() - 4)) != sum) {
    // A file is created with only its header, and no record is written before that is on disk.
    scan.ending = bytes.size() <= kRecordFileHeader ? Ending::torn : Ending::damaged;
    scan.trouble = "the header is incomplete or damaged";
    return false;
  }
  const bool is_kind = scan.file.kind == expected.kind;
  if (format > kFormat || (is_kind && scan.file.version > expected.version))
    return fail(
        Code::unimplemented,
        fmt::format("written by a newer version of this program (format {}.{}, known {}.{})",
                    format, scan.file.version, kFormat, expected.version));
  if (!is_kind) return fail(Code::invalid, "holds records of another kind");
  if (expected.number && scan.file.number != *expected.number) {
    scan.ending = Ending::damaged;
    scan.trouble = fmt::format("the header is that of number {}", scan.file.number);
    return false;
  }
  return true;
}

}  // namespace

RecordFile RecordFile::make(std::uint32_t kind, std::uint32_t version, std::uint64_t number) {
  return {.kind = kind, .version = version, .number = number, .salt = system_random().next()};
}

std::string encode_header(const RecordFile& file) {
  std::string out(kMagic);
  put_number(out, kFormat);
  put_number(out, file.kind);
  put_number(out, file.version);
  put_number(out, file.number);
  put_number(out, file.salt);
  put_number(out, crc32c(out));
  return out;
}

void encode_record(std::string& out, const RecordFile& file, std::uint64_t offset,
                   std::uint64_t durable, std::string_view payload) {
  PLIM_ASSERT(payload.size() <= kMaxRecord);
  const std::uint32_t start = seed(file, offset);
  const std::size_t begin = out.size();
  put_number(out, static_cast<std::uint32_t>(payload.size()));
  put_number(out, crc32c(payload, start));
  put_number(out, durable);
  put_number(out, crc32c(std::string_view(out).substr(begin), start));
  out.append(payload);
}

Result<RecordScan> scan_records(std::string_view bytes, const RecordExpectation& expected,
                                const RecordVisitor& visit) {
  RecordScan scan;
  PLIM_TRY(const bool readable, read_header(bytes, expected, scan));
  if (!readable) return scan;
  scan.end = kRecordFileHeader;
  while (scan.end < bytes.size()) {
    const auto head = read_head(bytes, scan.file, scan.end);
    const bool whole = head && bytes.size() - scan.end - kRecordHeader >= head->length;
    if (!whole || !payload_is_good(bytes, scan.file, scan.end, *head)) {
      scan.trouble = !head    ? "no record begins here"
                     : !whole ? "the record is cut off"
                              : "the checksum of the record does not match";
      scan.ending = was_acknowledged(bytes, scan.file, scan.end) ? Ending::damaged : Ending::torn;
      return scan;
    }
    auto visited = visit(scan.end, bytes.substr(scan.end + kRecordHeader, head->length));
    if (!visited) return visited.error().with_context(fmt::format("offset {}", scan.end));
    scan.end += kRecordHeader + head->length;
    ++scan.records;
  }
  return scan;
}

}  // namespace plim
