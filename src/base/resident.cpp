#include "base/resident.hpp"

#include <cstdint>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace plim {
namespace {

// Code is never written to, not even by the dynamic linker, so that nothing is lost. Data is: of
// relocated pages there is no copy elsewhere.
int forget_code_of(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || (part.p_flags & PF_W) != 0)
      continue;
    const std::uintptr_t begin = (object->dlpi_addr + part.p_vaddr) & ~(page - 1);
    const std::uintptr_t end = object->dlpi_addr + part.p_vaddr + part.p_memsz;
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void forget_code_of_start() {
  ::dl_iterate_phdr(forget_code_of, nullptr);
}

}  // namespace plim
