/* SPDX-License-Identifier: MIT */
/* librarygone - a program that cannot start: its library is where no loader looks. */
#ifdef LIBRARY_GONE
int library_gone(void);
int library_gone(void)
{
    return 0;
}
#else
int library_gone(void);
int main(void)
{
    return library_gone();
}
#endif
