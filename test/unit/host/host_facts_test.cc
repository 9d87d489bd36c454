// SPDX-License-Identifier: Apache-2.0
#include "host/host_facts.h"

#include <gtest/gtest.h>

#include "support/file.h"

namespace seccompress::host {
namespace {

TEST(HostFacts, TellTheRunningKernelsRelease) {
  const auto facts = host_facts();
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->kernel_release + '\n', *read_file("/proc/sys/kernel/osrelease", 256));
  EXPECT_EQ(facts->arch, abi::native_arch());
}

}  // namespace
}  // namespace seccompress::host
